"""What this library raises."""

from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from http.client import HTTPMessage
from typing import Any


class FrontdeskError(Exception):
    """The base of everything that this library raises."""

    request_id: str | None = None  # names the request in the server's logs


class ConnectionError(FrontdeskError):
    """There is no answer: the connection failed, and what became of the request is not known."""


class TimeoutError(ConnectionError):
    """There was no answer in time."""


class WebhookError(FrontdeskError):
    """A webhook request that must not be believed."""


class ApiError(FrontdeskError):
    """A refusal. Branch on ``code``, one of ``generated.ErrorCode``; the message is for people."""

    def __init__(self, status: int, code: str, message: str, details: Any, headers: HTTPMessage) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        self.headers = headers
        self.request_id = headers.get("X-Request-ID")
        self.retry_after = _retry_after(headers.get("Retry-After"))  # seconds

    def __str__(self) -> str:
        return f"{self.message} ({self.code}, request {self.request_id})"

    @property
    def fields(self) -> dict[str, list[str]]:
        """What is wrong with which field, in the API's names: ``{"emails[1].email": ["Invalid email address"]}``."""
        out: dict[str, list[str]] = {}

        def walk(node: Any, at: str) -> None:
            if not isinstance(node, dict):
                return
            if node.get("errors"):
                out[at] = node["errors"]
            for name, below in (node.get("properties") or {}).items():
                walk(below, f"{at}.{name}" if at else name)
            for i, below in enumerate(node.get("items") or []):
                walk(below, f"{at}[{i}]")

        if isinstance(self.details, dict) and isinstance(self.details.get("errors"), list):
            walk(self.details, "")
        return out


class ValidationError(ApiError):
    """400: the request is not valid; ``fields`` says where."""


class AuthenticationError(ApiError):
    """401: there is no such key."""


class PaymentError(ApiError):
    """402: the payment failed, or there is no card."""


class PermissionError(ApiError):
    """403: the key may not do this."""


class NotFoundError(ApiError):
    """404: it does not exist, or is not yours."""


class ConflictError(ApiError):
    """409, 412, 422: not as things are now."""


class RateLimitError(ApiError):
    """429: too many requests; ``retry_after`` says how long to wait."""


class ServerError(ApiError):
    """5xx: the server's fault."""


_by_status: dict[int, type[ApiError]] = {
    400: ValidationError, 401: AuthenticationError, 402: PaymentError, 403: PermissionError, 404: NotFoundError,
    409: ConflictError, 412: ConflictError, 422: ConflictError, 429: RateLimitError,
}


def error_of(status: int, headers: HTTPMessage, body: bytes) -> ApiError:
    """The error that a refusal stands for. A body that is not ours comes from something between."""
    error: dict[str, Any] = {}
    try:
        error = json.loads(body).get("error") or {}
    except (ValueError, AttributeError):
        pass
    kind = _by_status.get(status, ServerError if status >= 500 else ApiError)
    redirect = "The server redirects. Is the base URL right?"
    message = error.get("message") or (redirect if status < 400 else f"The server answered {status}.")
    return kind(status, error.get("code") or "UNKNOWN", message, error.get("details"), headers)


def _retry_after(header: str | None) -> float | None:
    if header is None:
        return None
    try:
        return float(header)
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
