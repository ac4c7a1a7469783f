package apptest

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
)

// ServeMail makes the service's mail server listen until the test ends, and returns
// its address.
func (a *App) ServeMail(t testing.TB) string {
	t.Helper()
	if err := os.MkdirAll(a.Settings.SpoolPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", a.Settings.MailServer.Listen)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- a.MailServer.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := a.MailServer.Shutdown(ctx); err != nil {
			t.Errorf("the mail server: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("the mail server: %v", err)
		}
	})
	return l.Addr().String()
}

// DeliverMail delivers a mail to an address of the organization, as the mail server
// would, and returns the message. rest is what follows the first headers.
func (a *App) DeliverMail(t testing.TB, from, subject, rest string) id.ID {
	t.Helper()
	text := "From: " + from + "\r\nTo: info@shop.example\r\nSubject: " + subject + "\r\nMessage-ID: <" +
		string(id.New()) + "@stranger.example>\r\nMIME-Version: 1.0\r\n" + rest
	sender := from[strings.LastIndexByte(from, '<')+1:]
	err := a.Messages.Receive(t.Context(), message.ReceivedMail{Sender: strings.Trim(sender, "<>"),
		Recipients: []message.Mailbox{{Organization: a.Org, Address: "info@shop.example"}},
		Content:    strings.NewReader(text), Size: int64(len(text))})
	if err != nil {
		t.Fatal(err)
	}
	return a.SendREST(t, a.Key, "GET", "/v1/messages?direction=inbound&limit=1", "").OK(t, 200).ID("0.id")
}
