"""How calls are made, whatever they are about."""

from __future__ import annotations

import builtins
import copy
import json
import os
import random
import secrets
import time
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import Any, Callable, Mapping, Protocol, Self, TypeVar
from urllib.parse import quote, urlencode

from .connections import Connections
from .errors import ApiError, ConnectionError, FrontdeskError, TimeoutError, error_of
from .models import OMIT, decoder, wire
from .pages import Page, Pages
from .streams import Download, Form

T = TypeVar("T")

VERSION = "0.1.0"
LONGEST_WAIT = 60.0  # seconds that a Retry-After may ask for


@dataclass(slots=True)
class Response:
    """An answer without its content."""

    status: int
    headers: HTTPMessage
    request_id: str | None


class Client:
    """The base of ``Frontdesk``. It may be used by many threads."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        max_retries: int = 4,
        retry_delay: float = 0.5,
        timeout: float = 60.0,
    ) -> None:
        """
        base_url: like https://frontdesk.example; by default the variable FRONTDESK_URL
        api_key: like fd_…; by default the variable FRONTDESK_API_KEY
        max_retries: how often a call that failed for a while is tried again
        retry_delay: seconds before the first further try; doubled for each one after it
        timeout: seconds that a connection may be silent
        """
        base_url = base_url or os.environ.get("FRONTDESK_URL")
        api_key = api_key or os.environ.get("FRONTDESK_API_KEY")
        if not base_url:
            raise FrontdeskError("Give base_url, or set FRONTDESK_URL.")
        if not api_key:
            raise FrontdeskError("Give api_key, or set FRONTDESK_API_KEY.")
        self.base_url = base_url.rstrip("/")
        self.max_retries = max_retries
        self.retry_delay = retry_delay
        self.timeout = timeout
        self._connections = Connections(self.base_url)
        self._headers = {"Authorization": f"Bearer {api_key}", "User-Agent": f"frontdesk-python/{VERSION}"}
        self._key: str | None = None
        self._if_match: str | None = None
        self._on_response: Callable[[Response], None] | None = None

    def with_options(
        self,
        *,
        max_retries: int | None = None,
        timeout: float | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        headers: Mapping[str, str] | None = None,
        on_response: Callable[[Response], None] | None = None,
    ) -> Self:
        """The same client with other settings, for single calls.

        idempotency_key: of your own, so that a call happens once even when your program starts anew
        if_match: change something only if its ETag is still this one
        on_response: is told about the answer: its ETag, for example
        """
        other = copy.copy(self)
        for name in [n for n, v in vars(other).items() if getattr(v, "_client", None) is self]:
            del other.__dict__[name]  # the groups of operations, which are made again
        other.max_retries = self.max_retries if max_retries is None else max_retries
        other.timeout = self.timeout if timeout is None else timeout
        other._headers = {**self._headers, **(headers or {})}
        other._key = idempotency_key
        other._if_match = if_match
        other._on_response = on_response
        return other

    def close(self) -> None:
        """Closes the connections that are kept for the next call."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(
        self, answer: type[T], method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None,
        form: dict[str, Any] | None = None,
    ) -> T:
        """Makes any call, also one that this version does not know, and returns ``data`` of the answer."""
        data = self._send(method, path, query, body, form, _envelope).get("data")
        decode = decoder(answer)
        out: T = data if decode is None or data is None else decode(data)
        return out

    def pages(self, item: type[T], path: str, query: dict[str, Any], cursor: bool) -> Pages[T]:
        """A list. One that takes a cursor is walked by it."""
        decode = decoder(item) or (lambda v: v)

        def fetch(query: dict[str, Any]) -> Page[T]:
            answer = self._send("GET", path, query, None, None, _envelope)
            p = answer["meta"]["pagination"]
            data = [decode(row) for row in answer["data"]]
            return Page(data, p["limit"], p["offset"], p["hasMore"], p.get("total"), p.get("nextCursor"))

        return Pages(fetch, query, cursor)

    def download(self, method: str, path: str, *, query: Mapping[str, Any] | None = None) -> Download:
        """A call whose answer is a file."""
        return self._send(method, path, query, None, None, Download)

    def _send(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: Any, form: dict[str, Any] | None,
        read: Callable[[HTTPResponse, Callable[[bool], None]], T],
    ) -> T:
        """Makes a call until it has an answer, or further tries make no sense."""
        headers = dict(self._headers)
        if self._if_match:
            headers["If-Match"] = self._if_match
        if method == "POST" and form is None:
            headers["Idempotency-Key"] = self._key or secrets.token_hex(16)
        content: bytes | Form | None = None
        if form is not None:
            content = Form(form)
            headers["Content-Type"] = content.content_type
        elif body is not None:
            content = json.dumps(_present(body)).encode()
            headers["Content-Type"] = "application/json"
        if query and (text := _query(query)):
            path = f"{path}?{text}"
        unknown = False  # whether an earlier try may have done its work
        attempt = 0
        while True:
            try:
                return self._attempt(method, path, content, headers, read)
            except (ApiError, ConnectionError) as error:
                if unknown and method == "DELETE" and isinstance(error, ApiError) and error.status == 404:
                    return read(_NOTHING, lambda _: None)  # the try before has deleted it
                failure = error
            refused = _was_refused(failure)
            if isinstance(content, Form):
                again = refused and content.rewind()
            else:
                again = refused or _is_unknown(failure) and not self._if_match
            wait = getattr(failure, "retry_after", None) or _backoff(self.retry_delay, attempt)
            if not again or wait > LONGEST_WAIT or attempt >= self.max_retries:
                raise failure
            unknown = unknown or not refused
            attempt += 1
            time.sleep(wait)

    def _attempt(
        self, method: str, path: str, content: bytes | Form | None, headers: dict[str, str],
        read: Callable[[HTTPResponse, Callable[[bool], None]], T],
    ) -> T:
        """One try, its answer read to the end."""
        request_id: str | None = None
        connection = None
        try:
            connection = self._connections.take(self.timeout)
            try:
                connection.request(method, self._connections.prefix + path, content, headers)
            except (BrokenPipeError, ConnectionResetError):
                if not isinstance(content, Form):
                    raise  # of an upload, the answer may be there already, and says why it was refused
            response = connection.getresponse()
            request_id = response.headers.get("X-Request-ID")
            if self._on_response:
                self._on_response(Response(response.status, response.headers, request_id))
            if response.status >= 300:
                body = response.read()
                self._connections.give(connection, not response.will_close)
                raise error_of(response.status, response.headers, body)
            held, again = connection, not response.will_close
            return read(response, lambda whole: self._connections.give(held, whole and again))
        except (OSError, HTTPException, ValueError) as error:
            if connection:
                connection.close()
            if isinstance(error, builtins.TimeoutError):
                failure: ConnectionError = TimeoutError(f"There was no answer within {self.timeout} seconds.")
            else:
                failure = ConnectionError(f"The connection failed: {error or type(error).__name__}")
            failure.request_id = request_id
            raise failure from error


class Resource:
    """The base of every group of operations."""

    def __init__(self, client: Client) -> None:
        self._client = client


class _Nothing(HTTPResponse):
    """An answer without content."""

    def __init__(self) -> None:
        self.status = 204

    def read(self, amt: int | None = None) -> bytes:
        return b""


_NOTHING = _Nothing()


def path_of(template: str, *values: str) -> str:
    """A path whose values are escaped."""
    if any(v in ("", ".", "..") for v in values):
        raise FrontdeskError("An id in the path is none.")
    return template.format(*(quote(v, safe="") for v in values))


class HasStatus(Protocol):
    @property
    def status(self) -> str: ...


S = TypeVar("S", bound=HasStatus)


def settled(get: Callable[[int], S], timeout: float | None) -> S:
    """Repeats a get that can wait, until the status is one that stays."""
    end = time.monotonic() + timeout if timeout is not None else None
    while True:
        left = 45.0 if end is None else max(0.0, min(45.0, end - time.monotonic()))
        row = get(int(left + 0.999))
        if row.status not in ("pending", "approved", "executing"):
            return row
        if end is not None and time.monotonic() >= end:
            raise TimeoutError(f"It is still {row.status}.")


def _envelope(response: HTTPResponse, release: Callable[[bool], None]) -> dict[str, Any]:
    body = response.read()
    release(True)
    answer: dict[str, Any] = json.loads(body) if body else {}
    return answer


def _present(body: Any) -> Any:
    if not isinstance(body, dict):
        return body
    return {name: value for name, value in body.items() if value is not OMIT}


def _query(query: Mapping[str, Any]) -> str:
    pairs: dict[str, str] = {}
    for name, value in query.items():
        value = wire(value)
        if value is None or value is OMIT:
            continue
        if isinstance(value, list):
            value = ",".join(map(str, value))
        pairs[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return urlencode(pairs)


def _was_refused(e: ApiError | ConnectionError) -> bool:
    """Whether nothing happened, and the same may work later."""
    return isinstance(e, ApiError) and (
        e.status == 429 or e.code in ("SERVICE_UNAVAILABLE", "IDEMPOTENCY_KEY_IN_FLIGHT")
    )


def _is_unknown(e: ApiError | ConnectionError) -> bool:
    """Whether it is not known what happened."""
    return not isinstance(e, ApiError) or e.status >= 500 or e.status == 408


def _backoff(delay: float, attempt: int) -> float:
    """Seconds to wait, between half of the delay and all of it."""
    return float(min(8.0, delay * 2**attempt)) * (0.5 + random.random() / 2)
