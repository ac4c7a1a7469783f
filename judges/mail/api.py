"""What the judges of mail share: the API, patience, a look into the maildir, and swaks."""

import json
import os
import subprocess
import time
import urllib.request


def call(method, path, body=None):
    request = urllib.request.Request(
        os.environ["API_URL"] + path, method=method, data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": "Bearer " + os.environ["API_KEY"], "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["data"]


def content(path):
    request = urllib.request.Request(os.environ["API_URL"] + path, headers={"Authorization": "Bearer " + os.environ["API_KEY"]})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


def until(what, look):
    for _ in range(300):
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit(f"not after 30 seconds: {what}")


def arrived(message):
    folder = os.path.join(os.environ["MAILDIR"], "new")
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        with open(os.path.join(folder, name), "rb") as f:
            raw = f.read()
        if message.encode() in raw:
            return raw


def swaks(*args):
    """Runs swaks, which speaks to the embedded server as any mail server would."""
    return subprocess.run(["swaks", "--server", os.environ["MAIL_IN"], "--helo", "client.example", "--from", "ada@example.com", *args],
                          capture_output=True, text=True, timeout=60, check=False)
