// Shows push messages, also when no page is open. It keeps no pages and answers no requests.
"use strict";

addEventListener("push", (event) => {
  const told = event.data ? event.data.json() : { title: "Something is new", body: "", url: "/notifications", tag: "" };
  event.waitUntil(registration.showNotification(told.title, { body: told.body, tag: told.tag, data: { url: told.url } }));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  const to = new URL(event.notification.data.url, location.origin);
  if (to.origin === location.origin) event.waitUntil(clients.openWindow(to.href));
});
