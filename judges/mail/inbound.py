"""Answers a message with swaks, and looks for the answer in the thread."""

import email
import email.policy
import os
import tempfile

from api import arrived, call, content, swaks, until

DRAWING = bytes(range(256)) * 300


def thread(message):
    return call("GET", f"/v1/messages?threadId={message['threadId']}&sortOrder=asc")


def main():
    asked = call("POST", "/v1/messages", {"to": "ada@example.com", "subject": "Welche Farbe?", "text": "Rot oder grün?"})
    until("sent", lambda: call("GET", "/v1/messages/" + asked["id"])["status"] == "sent")
    mail = email.message_from_bytes(until("arrived", lambda: arrived(asked["id"])), policy=email.policy.default)
    reply_to = mail["Reply-To"].addresses[0].addr_spec

    with tempfile.NamedTemporaryFile(suffix=".bin") as drawing:
        drawing.write(DRAWING)
        drawing.flush()
        answer = ["--to", reply_to, "--header", "Subject: Re: Welche Farbe?", "--header", "In-Reply-To: " + mail["Message-ID"],
                  "--header", "Message-ID: <judge-1@example.com>", "--header", "Date: Sat, 31 Jan 2026 12:00:00 +0000",
                  "--body", "Grün, wie hier gezeichnet.", "--attach-type", "application/octet-stream", "--attach-name", "Grün.bin", "--attach", "@" + drawing.name]
        done = swaks(*answer, "--tls")
        assert done.returncode == 0, (done.stdout + done.stderr)[-400:]
        assert "TLSv1.3" in done.stdout, done.stdout
    got = thread(asked)
    assert [m["direction"] for m in got] == ["outbound", "inbound"], got
    received = got[1]
    assert received["inReplyToId"] == asked["id"] and received["status"] == "received", received
    assert received["from"] == "ada@example.com" and received["to"] == [reply_to], received
    assert "wie hier gezeichnet" in received["text"], received
    (attached,) = call("GET", f"/v1/messages/{received['id']}/attachments")
    assert attached["fileName"] == "Grün.bin", attached
    assert content(f"/v1/files/{attached['fileId']}/content") == DRAWING

    # A server that relays is everybody's.
    refused = swaks("--to", "bob@elsewhere.example", "--body", "x")
    assert refused.returncode == 24 and "550 5.7.1" in refused.stdout, (refused.returncode, refused.stdout)
    refused = swaks("--to", "nobody@" + os.environ["MAIL_DOMAIN"], "--body", "x")
    assert refused.returncode == 24 and "550 5.1.1" in refused.stdout, (refused.returncode, refused.stdout)
    # All commands at once, and in a thread that only the address tells.
    done = swaks("--to", reply_to, "--pipeline", "--header", "Subject: Noch etwas", "--body", "Und blau.")
    assert done.returncode == 0, (done.stdout + done.stderr)[-400:]
    assert len(thread(asked)) == 3, thread(asked)
    types = [e["type"] for e in call("GET", "/v1/events?type=message.received")]
    assert len(types) == 2, types
    print("judge-mail: swaks' answer is in the thread, with its attachment")


main()
