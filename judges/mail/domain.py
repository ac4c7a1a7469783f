"""Sends from a hosted domain, verifies what arrived with its DNS, and answers it."""

import os
import shlex
import subprocess

import dkim

from api import arrived, call, swaks, until


def lookup(name, timeout=5):
    """Asks dig for a TXT record. It prints strings of a record side by side."""
    out = subprocess.run(["dig", "@127.0.0.1", "-p", os.environ["DNS_PORT"], "+short", "+tcp", name.decode(), "TXT"],
                         capture_output=True, text=True, timeout=timeout + 5, check=True).stdout.strip()
    return "".join(shlex.split(out)).encode() or None


def sent(address):
    made = call("POST", "/v1/messages", {"from": address, "to": "ada@example.com", "subject": "Grüße", "text": "Aus der Werkstatt."})
    until("sent", lambda: call("GET", "/v1/messages/" + made["id"])["status"] == "sent")
    raw = until("arrived", lambda: arrived(made["id"])).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    signed_for = b"d=" + address.split("@")[1].encode() + b";"
    assert raw.lower().count(b"dkim-signature:") == 2 and raw.count(signed_for) == 2, raw
    for i in range(2):
        assert dkim.DKIM(raw).verify(idx=i, dnsfunc=lookup), f"signature {i} of {address} does not verify"
    forged = raw.replace(b"Subject: ", b"Subject: X", 1)
    assert not dkim.DKIM(forged).verify(idx=0, dnsfunc=lookup), "a changed mail verifies"
    print(f"judge-domains: both signatures of {address} verify")
    return made


def main():
    domain = os.environ["DOMAIN"]
    sent("desk@" + domain)
    sent("robot@news." + domain)
    done = swaks("--to", "anybody@" + domain, "--header", "Subject: Back")
    assert done.returncode == 0, done.stdout + done.stderr
    (got,) = call("GET", "/v1/messages?direction=inbound")
    assert got["to"] == ["anybody@" + domain] and got["subject"] == "Back", got
    done = swaks("--to", "robot@news." + domain)
    assert done.returncode != 0 and "550" in done.stdout, done.stdout
    print("judge-domains: the domain takes mail, the subdomain that only sends does not")


main()
