"""Connections that are kept for the next call."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import urlsplit

from .errors import FrontdeskError

KEPT = 10  # connections that wait for the next call


class Connections:
    """The connections to one server. Many threads may take one each."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise FrontdeskError("The base URL begins with https:// or http:// and has a host.")
        self._host, self._port = parts.hostname, parts.port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.prefix = parts.path
        self._idle: list[HTTPConnection] = []
        self._lock = threading.Lock()

    def take(self, timeout: float) -> HTTPConnection:
        """A connection that nobody else has."""
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            if connection.sock is not None and not _readable(connection.sock):
                connection.sock.settimeout(timeout)
                return connection
            connection.close()  # the server has closed it
        if self._tls is not None:
            return HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        return HTTPConnection(self._host, self._port, timeout=timeout)

    def give(self, connection: HTTPConnection, again: bool) -> None:
        """Takes a connection back."""
        with self._lock:
            if again and len(self._idle) < KEPT:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _readable(sock: socket.socket) -> bool:
    """Whether something arrived on a connection that nobody uses: its end."""
    if hasattr(select, "poll"):  # it has no bound on the number of the descriptor
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([sock], [], [], 0)[0])
