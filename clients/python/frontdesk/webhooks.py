"""Receiving webhooks."""

from __future__ import annotations

import base64
import binascii
import datetime as _dt
import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from typing import Any, Mapping

from .errors import WebhookError
from .models import Model, decoder


@dataclass(slots=True, kw_only=True)
class WebhookEvent(Model):
    """What a webhook is told. ``data`` is the resource, in the API's names, as it was right after the change."""

    type: str
    timestamp: _dt.datetime
    data: Any
    previous: dict[str, Any] | None  # former values of what changed; None for creations
    id: str  # the same in every attempt: remember it, and handle each event once
    organization_id: str
    resource_type: str
    resource_id: str
    actor_kind: str
    actor_id: str | None
    door: str
    request_id: str


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str, *, tolerance: float = 300) -> WebhookEvent:
    """Makes sure that a request was sent by Frontdesk within the last five minutes, and returns the event.

    ``body`` is the request's body as it arrived. Raises ``WebhookError`` otherwise: answer with 400.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        name, moment, signatures = (given[f"webhook-{h}"] for h in ("id", "timestamp", "signature"))
        age = abs(time.time() - int(moment))
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except KeyError as error:
        raise WebhookError(f"The header {error} is missing.") from None
    except (ValueError, binascii.Error):
        raise WebhookError("The time or the secret is malformed.") from None
    if age > tolerance:
        raise WebhookError("The request is too old, or from the future.")
    digest = hmac.new(key, f"{name}.{moment}.".encode() + body, hashlib.sha256).digest()
    want = f"v1,{base64.b64encode(digest).decode()}".encode()
    if not any(hmac.compare_digest(want, s.encode()) for s in signatures.split(" ")):
        raise WebhookError("No signature fits. Is it the secret of this webhook?")
    decode = decoder(WebhookEvent)
    assert decode is not None
    event: WebhookEvent = decode(json.loads(body))
    return event
