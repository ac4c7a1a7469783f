"""Sends requests to https for some seconds, on connections that last and on new ones, and fails with the first that fails.
Every certificate is checked, and more than one must have been seen."""

import hashlib
import http.client
import socket
import ssl
import sys
import threading
import time


def main(name, address, roots, seconds, least):
    end = time.monotonic() + float(seconds)
    context = ssl.create_default_context(cafile=roots)
    seen, counts, failures, lock = {}, {"kept": 0, "new": 0}, [], threading.Lock()

    def connect():
        connection = http.client.HTTPSConnection(name, 443, timeout=30, context=context)
        connection._create_connection = lambda _, *rest: socket.create_connection((address, 443), *rest)
        connection.connect()
        with lock:
            seen.setdefault(hashlib.sha256(connection.sock.getpeercert(True)).hexdigest()[:16], time.monotonic())
        return connection

    def ask(connection):
        connection.request("GET", "/docs")
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200 and len(text) > 1000, answer.status

    def work(kind):
        try:
            connection = connect() if kind == "kept" else None
            while time.monotonic() < end and not failures:
                if kind == "kept":
                    ask(connection)
                else:
                    fresh = connect()
                    ask(fresh)
                    fresh.close()
                with lock:
                    counts[kind] += 1
        except Exception as e:  # any failure is the finding
            failures.append(f"{kind}: {e!r}")

    threads = [threading.Thread(target=work, args=[kind]) for kind in ("kept", "kept", "new", "new")]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures
    assert len(seen) >= int(least), f"only {len(seen)} certificates were seen"
    assert min(counts.values()) >= 20, counts
    print(f"{counts['kept']} requests on lasting connections and {counts['new']} on new ones, {len(seen)} certificates, no failure")


main(*sys.argv[1:])
