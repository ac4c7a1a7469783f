"""Does what each line of standard input says with the client for Python, and
answers with a line. See driver.go for the words."""

import json
import os
import re
import statistics
import sys
import time
import traceback
import urllib.request

import frontdesk
from frontdesk import Frontdesk, Upload, verify_webhook

clients = {}


def client_for(via):
    name = json.dumps(via)
    if name not in clients:
        via = {snake(k): v for k, v in (via or {}).items()}
        for milliseconds in ("retry_delay", "timeout"):
            if milliseconds in via:
                via[milliseconds] /= 1000
        clients[name] = Frontdesk(**via)
    return clients[name]


def snake(name):
    name = re.sub(r"([A-Z])", lambda m: "_" + m[1].lower(), name)
    return name + "_" if name in ("from", "import", "class") else name


def method(client, step):
    options = {snake(k): v for k, v in (step.get("options") or {}).items()}
    if "timeout" in options:
        options["timeout"] /= 1000
    at = client.with_options(**options) if options else client
    for word in step["call"].split("."):
        at = getattr(at, word)
    arguments = {snake(k): v for k, v in {**(step.get("input") or {}), **(step.get("query") or {})}.items()}
    return at(*step.get("path", []), **arguments)


def plain(value):
    if isinstance(value, frontdesk.Model):
        return value.to_dict()
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


class Verbs:
    def call(self, client, step):
        return plain(method(client, step))

    def etag(self, client, step):
        seen = []
        method(client.with_options(on_response=seen.append), step)
        return seen[0].headers["ETag"]

    def page(self, client, step):
        page = method(client, step).page()
        out = {"data": plain(page.data), "limit": page.limit, "offset": page.offset, "hasMore": page.has_more}
        return out if page.total is None else {**out, "total": page.total}

    def all(self, client, step):
        return [plain(row) for row in method(client, step)]

    def upload(self, client, step):
        with open(step["file"], "rb") as file:
            return plain(client.files.upload(file=Upload(step["name"], file)))

    def stream(self, client, step):
        class Pieces:
            words = step["text"].split(" ")

            def read(self, _):
                return self.words.pop(0).encode() if self.words else b""

            def seekable(self):
                return False

        return plain(client.files.upload(file=Upload(step["name"], Pieces())))

    def download(self, client, step):
        with method(client, step) as file:
            content = b"".join(file)
        text = content[:5].decode("latin-1")
        return {"name": file.name, "type": file.content_type, "text": text, "size": len(content) > 0}

    def verify(self, client, step):
        return plain(verify_webhook(step["body"].encode(), step["headers"], step["secret"]))

    def wait(self, client, step):
        return plain(client.proposals.wait(step["path"][0]))

    def hammer(self, client, step):
        for i in range(step["n"]):
            client.contacts.create(first_name=f"H-{step['from'] + i}")
        return step["n"]

    def bench(self, client, step):
        request = urllib.request.Request(
            f"{os.environ['FRONTDESK_URL']}/v1/contacts/{step['path'][0]}",
            headers={"Authorization": f"Bearer {os.environ['FRONTDESK_API_KEY']}"},
        )

        def bare():
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)["data"]

        def ours():
            return client.contacts.get(step["path"][0])

        times = {ours: [], bare: []}
        for i in range(step["n"]):
            for run in (ours, bare) if i % 2 else (bare, ours):
                began = time.perf_counter_ns()
                run()
                times[run].append((time.perf_counter_ns() - began) / 1000)
        return {"ours": statistics.median(times[ours]), "bare": statistics.median(times[bare])}


def describe(error):
    if isinstance(error, frontdesk.ApiError):
        return {
            "kind": "api", "status": error.status, "code": error.code, "fields": error.fields,
            "requestId": bool(error.request_id), "retryAfter": bool(error.retry_after),
        }
    if isinstance(error, frontdesk.TimeoutError):
        return {"kind": "timeout"}
    if isinstance(error, frontdesk.ConnectionError):
        return {"kind": "connection"}
    if isinstance(error, frontdesk.WebhookError):
        return {"kind": "webhook"}
    return {"kind": "unexpected: " + "".join(traceback.format_exception(error))}


for line in sys.stdin:
    step = json.loads(line)
    try:
        answer = {"data": getattr(Verbs(), step["do"])(client_for(step.get("via")), step)}
    except Exception as error:
        answer = {"error": describe(error)}
    print(json.dumps(answer), flush=True)
