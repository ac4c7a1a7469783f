"""Opens the link of a fresh server as a browser would, creates the owner, and looks at the desk. Prints what is signed in."""

import http.client
import re
import ssl
import sys
import urllib.parse


def main(link, roots, address):
    url = urllib.parse.urlsplit(link)
    assert url.scheme == "https", link
    context = ssl.create_default_context(cafile=roots)
    cookies = {}

    def request(method, path, form=None):
        connection = http.client.HTTPSConnection(url.hostname, 443, timeout=20, context=context)
        connection._create_connection = lambda _, *rest: __import__("socket").create_connection((address, 443), *rest)
        headers = {"Accept": "text/html", "Cookie": "; ".join(f"{k}={v}" for k, v in cookies.items()), "Origin": f"https://{url.hostname}",
                   "Sec-Fetch-Site": "same-origin"}
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000", answer.headers
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            pair, *attributes = cookie.split("; ")
            assert pair.startswith("__Host-") and "Secure" in attributes, cookie
            key, value = pair.split("=", 1)
            cookies[key] = value
        if answer.status in (302, 303):
            return request("GET", urllib.parse.urlsplit(answer.headers["Location"])._replace(scheme="", netloc="").geturl())
        return answer.status, text

    status, page = request("GET", url.path)
    assert status == 200 and "You are the first here" in page, (status, page)
    form = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
    form |= {"name": "Ada", "email": "ada@example.com", "password": "a long password", "organizationName": "Engines"}
    status, page = request("POST", url.path, form)
    assert status == 200 and "Welcome" in page and "Ada" in page, (status, page)
    status, page = request("GET", "/settings/plan")
    assert status == 200 and "Enterprise" in page, (status, page)
    print("Ada is signed in, as the owner of Engines")


main(*sys.argv[1:])
