"""Sends a message through the API and looks at what a third party got."""

import email
import email.policy
import json
import os
import re
import urllib.request

import dkim

from api import arrived, call, until

SUBJECT = "Żółw: die Zeichnungen für Ihre Maschine, mit einem Betreff, der umgebrochen werden muss"
TEXT = "Grüße aus der Werkstatt.\n.\nEine Zeile, die mit einem Punkt beginnt:\n.so\n"


def upload(name, content):
    boundary = "judge"
    body = (f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n').encode() + content + f"\r\n--{boundary}--\r\n".encode()
    request = urllib.request.Request(
        os.environ["API_URL"] + "/v1/files", method="POST", data=body,
        headers={"Authorization": "Bearer " + os.environ["API_KEY"], "Content-Type": "multipart/form-data; boundary=" + boundary})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["data"]


def main():
    drawing = bytes(range(256)) * 40
    file = upload("Zeichnung Ä.bin", drawing)
    made = call("POST", "/v1/messages", {"to": ["ada@example.com"], "bcc": "hidden@example.com", "subject": SUBJECT, "text": TEXT, "html": "<p>Grüße</p>", "fileIds": [file["id"]]})
    until("sent", lambda: call("GET", "/v1/messages/" + made["id"])["status"] == "sent")
    raw = until("arrived", lambda: arrived(made["id"]))

    mail = email.message_from_bytes(raw, policy=email.policy.default)
    assert mail["Subject"] == SUBJECT, mail["Subject"]
    assert mail["From"] == '"Judges via 127.0.0.1" <no-reply@' + os.environ["MAIL_DOMAIN"] + ">", mail["From"]
    assert mail["To"] == "ada@example.com", mail["To"]
    # It begins with the message's id; the rest is known to who has seen the mail.
    assert re.fullmatch(rf"<{made['id']}\.[a-z2-7]{{16}}@{re.escape(os.environ['MAIL_DOMAIN'])}>", mail["Message-ID"]), mail["Message-ID"]
    assert b"hidden@" not in raw.split(b"\nFrom:", 1)[1], "the blind copy is told"
    assert mail.get_body(("plain",)).get_content().replace("\r\n", "\n").rstrip("\n") == TEXT.rstrip("\n")
    assert mail.get_body(("html",)).get_content().strip() == "<p>Grüße</p>"
    (attached,) = mail.iter_attachments()
    assert attached.get_filename() == "Zeichnung Ä.bin", attached.get_filename()
    assert attached.get_content() == drawing

    with open(os.environ["DNS"]) as f:
        records = {r["name"] + ".": r["value"].encode() for r in json.load(f)["records"] if "._domainkey." in r["name"]}
    asked = []

    def lookup(name, timeout=5):
        asked.append(name.decode())
        return records.get(name.decode())

    # A maildir has the machine's line ends; mail travels with its own.
    wire = raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    signatures = raw.lower().count(b"dkim-signature:")
    assert signatures == 2, signatures
    for i in range(signatures):
        assert dkim.DKIM(wire).verify(idx=i, dnsfunc=lookup), f"signature {i} does not verify"
    assert sorted(asked) == sorted(records), (asked, sorted(records))
    forged = wire.replace("Grüße".encode(), b"X").replace(b"Subject: ", b"Subject: X", 1)
    assert not dkim.DKIM(forged).verify(idx=0, dnsfunc=lookup), "a changed mail verifies"
    print(f"judge-mail: {len(raw)} bytes arrived whole, signed by {', '.join(sorted(records))}")


def unsubscribe():
    """What a mail program does for whoever presses its button (RFC 8058)."""
    opt_in = call("POST", "/v1/email-opt-ins", {"email": "grace@example.com", "status": "opted_in"})
    made = call("POST", "/v1/messages", {"to": "grace@example.com", "subject": "News", "text": "There is some.", "purpose": "marketing"})
    mail = email.message_from_bytes(until("arrived", lambda: arrived(made["id"])), policy=email.policy.default)
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click", mail["List-Unsubscribe-Post"]
    link = mail["List-Unsubscribe"].strip("<>")
    with urllib.request.urlopen(link, timeout=10) as page:
        assert "grace@example.com" in page.read().decode(), "the page does not name the address"
    assert call("GET", "/v1/email-opt-ins/" + opt_in["id"])["status"] == "opted_in", "looking at the page changed something"
    with urllib.request.urlopen(urllib.request.Request(link, method="POST", data=b"List-Unsubscribe=One-Click"), timeout=10) as answer:
        assert answer.status == 200, answer.status
    assert call("GET", "/v1/email-opt-ins/" + opt_in["id"])["status"] == "opted_out"
    print("judge-mail: one click ends marketing mail")


main()
unsubscribe()
