"""The API of a Frontdesk server.

    from frontdesk import Frontdesk

    client = Frontdesk(base_url="https://frontdesk.example", api_key="fd_…")
    contact = client.contacts.create(first_name="Ada")
    for contact in client.contacts.list(query="ada"):
        print(contact.id, contact.first_name)

Calls that fail for a while are tried again, without a second effect. The methods
and types are in generated.py; everything else is written by hand.
"""

from .client import VERSION, Client, Response
from .errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    ConnectionError,
    FrontdeskError,
    NotFoundError,
    PaymentError,
    PermissionError,
    RateLimitError,
    ServerError,
    TimeoutError,
    ValidationError,
    WebhookError,
)
from .generated import Frontdesk
from .models import OMIT, Model, Omit
from .pages import Page, Pages
from .streams import Download, Upload
from .webhooks import WebhookEvent, verify_webhook

__all__ = [
    "OMIT", "VERSION", "ApiError", "AuthenticationError", "Client", "ConflictError", "ConnectionError", "Download",
    "Frontdesk", "FrontdeskError", "Model", "NotFoundError", "Omit", "Page", "Pages", "PaymentError",
    "PermissionError", "RateLimitError", "Response", "ServerError", "TimeoutError", "Upload", "ValidationError",
    "WebhookError", "WebhookEvent", "verify_webhook",
]
