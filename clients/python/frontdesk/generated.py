# Written by `make generate` from the operations of the API. Do not edit.
from __future__ import annotations

import datetime as _dt
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Dict, Generic, List, Literal, Mapping, NotRequired, Sequence, TypedDict, TypeVar

from .client import Client, Resource, path_of, settled
from .models import OMIT, Model, Omit, Wire, wire
from .pages import Pages
from .streams import Download, Upload

T = TypeVar("T")

Wire.free = frozenset({"input"})

ErrorCode = Literal[
    "ACCOUNT_DISABLED",  # 403: This account is disabled.
    "AUTOMATION_EXECUTION_ENDED",  # 409: This execution has ended.
    "AUTOMATION_EXECUTION_NOT_RETRYABLE",  # 409: Only an execution that failed or was canceled can be retried.
    "AUTOMATION_LIMIT_REACHED",  # 409: An organization has at most 200 automations. Delete one first.
    "AUTOMATION_PAUSED",  # 409: This automation is paused. Set its status to active first.
    "BUSINESS_AGREEMENT_REQUIRED",  # 403: An owner or admin must accept the business agreement first.
    "BUSINESS_IN_USE",  # 409: The business has API keys or agents. Revoke, delete or move them first.
    "BUSINESS_LAST",  # 409: The last business of an organization cannot be deleted.
    "CONTACT_EMAIL_EXISTS",  # 409: The contact already has this address.
    "CONTACT_EMAIL_SHARED",  # 409: Several contacts have this address. Change the one you mean by its id, or merge them.
    "CONTACT_MERGE_TOO_LARGE",  # 409: Too many records name the contact that would go. Merge the other way round.
    "CONTACT_NOT_MERGED",  # 409: This contact was not merged into the other, was restored since, or the merge is too old to be taken back.
    "CONTACT_ORGANIZATION_REQUIRED",  # 422: This ending needs the contact's organizationName and jobTitle.
    "CREDIT_EXCEEDS_BALANCE",  # 422: There is nothing left to credit.
    "CREDIT_NOTE_LIMIT_REACHED",  # 409: An invoice has at most 100 credit notes.
    "DNS_ERROR",  # 400: The DNS provider refused the change.
    "DNS_RECORD_CONFLICT",  # 409: A CNAME record cannot stand beside other records of its name.
    "DNS_RECORD_EXISTS",  # 409: The zone already has this record.
    "DNS_RECORD_MANAGED",  # 409: This record is managed and cannot be changed here.
    "DNS_SPF_EXISTS",  # 409: The name has an SPF record already.
    "DNS_ZONE_BUSY",  # 409: Another change of this zone is under way. Retry in a moment.
    "DNS_ZONE_FULL",  # 422: The zone has the maximum number of records.
    "DNS_ZONE_MISSING",  # 409: This domain has no zone.
    "DOMAIN_AGREEMENTS_REQUIRED",  # 403: An owner or admin must accept the domain agreements first.
    "DOMAIN_CONTACT_IN_USE",  # 409: A registered domain uses this contact.
    "DOMAIN_EXISTS",  # 409: The organization already has this domain.
    "DOMAIN_NESTING_UNSUPPORTED",  # 409: The name is more than one label below a domain of the organization.
    "DOMAIN_NOT_VERIFIED",  # 409: The TXT record was not found.
    "DOMAIN_PARENT_EXISTS",  # 409: The organization has the domain above this name. Add it as a subdomain of that.
    "DOMAIN_SUBDOMAINS_EXIST",  # 409: The domain has subdomains. Remove them first.
    "DOMAIN_UNAVAILABLE",  # 409: This domain is not available.
    "EMAIL_OPT_IN_EXISTS",  # 409: This address already has an opt-in. Change that one.
    "EMAIL_OPT_IN_REQUIRED",  # 422: Marketing mail goes only to addresses that opted in.
    "EMAIL_TEMPLATE_ARCHIVED",  # 409: An archived email template cannot be sent. Make it active first.
    "EMAIL_TEMPLATE_KEY_TAKEN",  # 409: Another active email template has this key. Archive it first.
    "EMAIL_TEMPLATE_VARIABLE_MISSING",  # 422: A variable of the template has no value and no default.
    "EXTERNAL_ID_TAKEN",  # 409: Another record has this externalId.
    "FILE_HAS_NO_TEXT",  # 422: The file has no text that can be read.
    "FOLDER_CYCLE",  # 409: A folder cannot be moved into itself or a folder below it.
    "FOLDER_NOT_EMPTY",  # 409: The folder is not empty. Move or delete its contents first.
    "IDEMPOTENCY_KEY_IN_FLIGHT",  # 409: The first request with this Idempotency-Key is still running. Retry in a moment.
    "IDEMPOTENCY_KEY_REUSED",  # 422: This Idempotency-Key was used for a different request. Use a new key.
    "IMPORT_FILE_INVALID",  # 422: The file is neither CSV with a line of headings nor vCard.
    "IMPORT_LIMIT_REACHED",  # 409: Three imports of the organization wait or run. Wait for one to end.
    "INSUFFICIENT_PERMISSIONS",  # 403: This key may not do that.
    "INTERNAL_ERROR",  # 500: Something went wrong on our side. The request id names the attempt in our logs.
    "INVALID_BUSINESS_ID",  # 400: The business id is not a UUID.
    "INVALID_CONTACT_ID",  # 400: The contact id is not a UUID.
    "INVALID_INPUT",  # 400: The request is not valid.
    "INVALID_MESSAGE_ID",  # 400: The message id is not a UUID.
    "INVOICE_CUSTOMER_DELETED",  # 409: The customer of this invoice was deleted. Give the draft another one first.
    "INVOICE_EMPTY",  # 409: An invoice needs a line item to be issued. Add line items to the draft first.
    "INVOICE_NOT_CREDITABLE",  # 409: A draft or void invoice cannot be credited.
    "INVOICE_NOT_DRAFT",  # 409: Only a draft can be changed or deleted. Void this invoice and create a new one.
    "INVOICE_NOT_PAYABLE",  # 409: A draft or void invoice cannot be paid.
    "INVOICE_RECIPIENT_MISSING",  # 422: The invoice has no billToEmail. Set to to an address.
    "INVOICE_REMINDER_EXISTS",  # 409: The business already reminds of its invoices on that day.
    "INVOICE_REMINDER_LIMIT_REACHED",  # 409: A business has at most 10 reminders.
    "INVOICE_TOO_LONG",  # 422: The descriptions, notes and terms of this invoice fill more than 400 pages. Make them shorter.
    "INVOICE_TRANSITION_INVALID",  # 409: The invoice cannot make this move.
    "MESSAGE_CONTACT_EXISTS",  # 409: The contact is already linked to the message in this role.
    "MESSAGE_FILE_MISSING",  # 409: A file of the message was deleted.
    "MESSAGE_LOOP",  # 409: An automation does not answer mail that a machine wrote.
    "MESSAGE_NOT_DRAFT",  # 409: Only a draft can be changed or deleted.
    "MESSAGE_TOO_LARGE",  # 422: The attachments of the message are too large.
    "MESSAGE_TRANSITION_INVALID",  # 409: The message cannot change to this status.
    "MISSING_QUERY",  # 400: A required query parameter is missing.
    "NOTHING_TO_UNDO",  # 404: Nothing was found that could be undone.
    "NOT_FOUND",  # 404: There is no such resource.
    "OUTCOME_UNKNOWN",  # 503: It may have happened. Repeat it only with the same Idempotency-Key, or look first.
    "PAYLOAD_TOO_LARGE",  # 413: The request body is too large.
    "PAYMENT_EXCEEDS_BALANCE",  # 422: The payment exceeds the amount due.
    "PAYMENT_FAILED",  # 402: The card was not charged.
    "PAYMENT_METHOD_REQUIRED",  # 402: There is no default card. An owner or admin saves one in the console.
    "PAYMENT_REFUNDED",  # 409: Some of the payment was refunded, so it cannot be voided. Refund the rest instead.
    "PAYMENT_VOIDED",  # 409: The payment is already void.
    "PLACE_TAKEN",  # 409: Something else has taken its place. Change or delete that first.
    "PREMIUM_DOMAIN_NOT_SUPPORTED",  # 422: Names with a premium price are not offered.
    "PRICE_EXCEEDS_MAXIMUM",  # 409: The price is above maxAmountCents. Nothing was charged.
    "PROPERTY_KEY_TAKEN",  # 409: Another property definition of this object type has this key.
    "PROPERTY_VALUE_CONFLICT",  # 409: The property was changed at the same time. Read it again and decide again.
    "PROPERTY_VALUE_NOT_CONFIRMED",  # 409: Only a confirmed property value can be replaced.
    "PROPERTY_VALUE_TRANSITION_INVALID",  # 409: The property value cannot change to this status.
    "PROPOSAL_BECAME_PENDING",  # 409: You may no longer do all of this alone, so a person must decide it now. The details have the link.
    "PROPOSAL_LIMIT_REACHED",  # 409: 200 proposals wait for a decision already. Wait until some are decided, or cancel some.
    "PROPOSAL_NEEDS_APPROVAL",  # 403: A person must approve this proposal in the console.
    "PROPOSAL_NOT_OPEN",  # 409: This proposal can no longer be decided or carried out.
    "PROPOSAL_STALE",  # 409: Something changed since the proposal was shown, so it was not carried out. Propose it anew.
    "PROPOSAL_STEP_REFUSED",  # 409: A step would be refused. The details say which, and with what.
    "PROPOSAL_TOO_LARGE",  # 422: The steps have more than 1000 effects. Propose them in several parts.
    "PROPOSAL_TOO_SLOW",  # 409: The rehearsal took longer than others can wait for it. Propose the steps in smaller parts.
    "RANGE_NOT_SATISFIABLE",  # 416: The file has no such range of bytes.
    "RATE_LIMITED",  # 429: Too many requests. Wait for the time in Retry-After.
    "REFUND_EXCEEDS_PAYMENT",  # 422: The refund exceeds what is left of the payment.
    "REGISTERED_DOMAIN_DNS_NOT_EMPTY",  # 409: The zone still has records. Remove them first.
    "REGISTERED_DOMAIN_LOCKED",  # 409: The transfer lock is on. Turn transferLock off first.
    "REGISTERED_DOMAIN_NOT_EXPIRED",  # 409: A registered domain can be deleted once it has expired.
    "REGISTERED_DOMAIN_RENEWAL_IN_FLIGHT",  # 409: A renewal of this domain is queued or running.
    "REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT",  # 409: A transfer to another registrar is under way.
    "REGISTRAR_UNSUPPORTED_OPERATION",  # 422: This is not possible for this domain.
    "SERVICE_UNAVAILABLE",  # 503: The service is briefly unavailable. Retry in a moment.
    "STATEMENT_TOO_LONG",  # 422: There is too much for one statement in this time. Choose a shorter one.
    "STORAGE_LIMIT_REACHED",  # 413: The organization has used all the storage of its plan.
    "TASK_ASSIGNEE_EXISTS",  # 409: The task is already assigned to this user.
    "UNAUTHORIZED",  # 401: The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".
    "VALIDATION_ERROR",  # 400: The request body is not valid.
    "VERSION_MISMATCH",  # 412: It was changed since you read it. Get it again, and send its new ETag in If-Match.
    "WEBHOOK_LIMIT_REACHED",  # 409: An organization has at most 100 webhooks. Delete one first.
]
"""Every code of a refusal."""

EventType = Literal[
    "agent.activated",
    "agent.connected",
    "agent.created",
    "agent.deactivated",
    "agent.deleted",
    "agent.disconnected",
    "agent.moved",
    "agent.updated",
    "agreement.accepted",
    "api_key.created",
    "api_key.revoked",
    "automation.created",
    "automation.deleted",
    "automation.restored",
    "automation.updated",
    "automation_execution.canceled",
    "automation_execution.created",
    "automation_execution.failed",
    "automation_execution.retried",
    "business.created",
    "business.deleted",
    "business.invoice_reminder.created",
    "business.invoice_reminder.deleted",
    "business.offering.created",
    "business.offering.deleted",
    "business.offering.updated",
    "business.online_presence.created",
    "business.online_presence.deleted",
    "business.online_presence.updated",
    "business.physical_presence.created",
    "business.physical_presence.deleted",
    "business.physical_presence.updated",
    "business.profile.updated",
    "business.property.created",
    "business.property.deleted",
    "business.property.updated",
    "business.restored",
    "business.updated",
    "contact.address.created",
    "contact.address.deleted",
    "contact.address.updated",
    "contact.created",
    "contact.deleted",
    "contact.email.created",
    "contact.email.deleted",
    "contact.email.updated",
    "contact.erased",
    "contact.merged",
    "contact.note.created",
    "contact.note.deleted",
    "contact.note.updated",
    "contact.phone_number.created",
    "contact.phone_number.deleted",
    "contact.phone_number.updated",
    "contact.property.created",
    "contact.property.deleted",
    "contact.property.updated",
    "contact.restored",
    "contact.unmerged",
    "contact.updated",
    "customer.created",
    "customer.deleted",
    "customer.property.created",
    "customer.property.deleted",
    "customer.property.updated",
    "customer.restored",
    "customer.transaction.created",
    "customer.updated",
    "domain.created",
    "domain.deleted",
    "domain.dns_record.created",
    "domain.dns_record.deleted",
    "domain.dns_record.updated",
    "domain.email.created",
    "domain.email.deleted",
    "domain.email.updated",
    "domain.expired",
    "domain.renewal_failed",
    "domain.renewed",
    "domain.subdomain.created",
    "domain.subdomain.deleted",
    "domain.transfer_canceled",
    "domain.transfer_requested",
    "domain.transferred",
    "domain.unverified",
    "domain.updated",
    "domain.verified",
    "domain_contact.created",
    "domain_contact.deleted",
    "domain_contact.restored",
    "domain_contact.updated",
    "email_opt_in.created",
    "email_opt_in.deleted",
    "email_opt_in.restored",
    "email_opt_in.updated",
    "email_template.created",
    "email_template.deleted",
    "email_template.restored",
    "email_template.updated",
    "file.access_link.created",
    "file.access_link.deleted",
    "file.access_link.downloaded",
    "file.created",
    "file.deleted",
    "file.restored",
    "file.updated",
    "folder.created",
    "folder.deleted",
    "folder.restored",
    "folder.updated",
    "import.created",
    "import.failed",
    "import.succeeded",
    "invite.accepted",
    "invite.created",
    "invite.revoked",
    "invoice.created",
    "invoice.credit_note.created",
    "invoice.deleted",
    "invoice.issued",
    "invoice.overdue",
    "invoice.paid",
    "invoice.payment.created",
    "invoice.payment.refunded",
    "invoice.payment.voided",
    "invoice.reminded",
    "invoice.restored",
    "invoice.sent",
    "invoice.updated",
    "invoice.voided",
    "message.attachment.created",
    "message.attachment.deleted",
    "message.bounced",
    "message.canceled",
    "message.contact.created",
    "message.contact.deleted",
    "message.created",
    "message.deleted",
    "message.failed",
    "message.queued",
    "message.received",
    "message.scheduled",
    "message.sent",
    "message.updated",
    "operation.created",
    "operation.failed",
    "operation.started",
    "operation.succeeded",
    "organization.agents_paused",
    "organization.agents_resumed",
    "organization.created",
    "organization.exported",
    "organization.updated",
    "payment_method.created",
    "payment_method.deleted",
    "payment_method.setup_started",
    "payment_method.updated",
    "property_definition.created",
    "property_definition.deleted",
    "property_definition.restored",
    "property_definition.updated",
    "proposal.approved",
    "proposal.canceled",
    "proposal.created",
    "proposal.executed",
    "proposal.expired",
    "proposal.failed",
    "proposal.rejected",
    "proposal.stale",
    "proposal.updated",
    "session.confirmed",
    "session.created",
    "session.deleted",
    "session.switched",
    "task.activity.created",
    "task.assignee.created",
    "task.assignee.deleted",
    "task.created",
    "task.deleted",
    "task.restored",
    "task.updated",
    "thread.note.created",
    "thread.note.deleted",
    "thread.updated",
    "user.created",
    "user.disabled",
    "user.enabled",
    "user.factor_added",
    "user.factor_removed",
    "user.factors_reset",
    "user.identity_linked",
    "user.identity_unlinked",
    "user.notices_changed",
    "user.password_changed",
    "user.password_link_created",
    "user.password_reset",
    "user.push_added",
    "user.push_removed",
    "user.recovery_code_used",
    "user.recovery_codes_created",
    "user.removed",
    "user.review_mail_changed",
    "user.rights_changed",
    "user.role_changed",
    "user.sign_in_link_created",
    "user.signature_changed",
    "view.created",
    "view.deleted",
    "view.restored",
    "view.updated",
    "webhook.created",
    "webhook.deleted",
    "webhook.delivery.redelivered",
    "webhook.disabled",
    "webhook.restored",
    "webhook.secret_rotated",
    "webhook.tested",
    "webhook.updated",
]
"""Every kind of event that a webhook is told of."""


@dataclass(slots=True, kw_only=True)
class Accepted(Model):
    operation_id: str
    status: Literal["queued"]
    domain: str


@dataclass(slots=True, kw_only=True)
class AccessLink(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    file_id: str
    expires_at: _dt.datetime | None  # null means never
    max_downloads: int | None  # null means unlimited
    download_count: int
    url: str | None  # the public address, shown once, on creation


@dataclass(slots=True, kw_only=True)
class Address(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    contact_id: str
    line1: str
    line2: str | None
    city: str | None
    state: str | None
    postal_code: str | None
    country: str | None  # ISO 3166, two letters
    label: str | None
    is_primary: bool


class AddressFields(TypedDict):
    line1: str
    line2: NotRequired[str | None]
    city: NotRequired[str | None]
    state: NotRequired[str | None]
    postal_code: NotRequired[str | None]
    country: NotRequired[str | None]  # ISO 3166, two letters
    label: NotRequired[str | None]
    is_primary: NotRequired[bool | None]


@dataclass(slots=True, kw_only=True)
class Attempt(Model):
    attempted_at: _dt.datetime  # when it began
    url: str | None
    duration_ms: int | None  # null while under way, and when the service stopped during it
    response_status: int | None
    response_body: str | None
    error_message: str | None


@dataclass(slots=True, kw_only=True)
class Authentication(Model):
    spf: Literal["pass", "fail", "none"]  # whether the sending server may send for the return path
    dkim: Literal["pass", "fail", "none"]  # whether a signature holds, by any domain
    dmarc: Literal["pass", "fail", "none"]  # whether one of them speaks for the domain of from


@dataclass(slots=True, kw_only=True)
class Automation(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    name: str
    description: str | None
    status: Literal["active", "paused"]
    trigger: Trigger
    condition: str | None  # CEL over event, input: event.data.x == 1
    steps: List[Step]
    next_run_at: _dt.datetime | None  # for an active schedule
    maker_kind: Literal["user", "agent", "api", "automation", "system"]  # who last changed the steps
    maker_id: str | None


@dataclass(slots=True, kw_only=True)
class AutomationOptions(Model):
    events: List[EventOption]  # what a trigger can name
    operations: List[OperationOption]  # what a step can call
    placeholders: List[Placeholder]  # how a step's input names values


@dataclass(slots=True, kw_only=True)
class Balance(Model):
    customer_id: str
    balances: List[CurrencyBalance]  # one for each currency of the customer's transactions


@dataclass(slots=True, kw_only=True)
class BatchResult(Model, Generic[T]):
    status: int
    data: T | None = None  # the row, as GET returns it
    error: Dict[str, Any] | None = None  # why nothing was done with it


@dataclass(slots=True, kw_only=True)
class Business(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    name: str
    legal_name: str | None
    description: str | None
    industry: str | None
    timezone: str  # an IANA name, like Europe/Berlin
    locale: str
    currency: str
    logo_file_id: str | None
    accent_color: str | None  # of documents and mail, like #1f4e79
    payment_instructions: str | None  # how to pay, in words, on invoices
    bank_name: str | None
    iban: str | None  # printed on unpaid invoices
    bic: str | None


@dataclass(slots=True, kw_only=True)
class BusinessOffering(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    business_id: str
    currency: str
    name: str
    kind: Literal["product", "service"] | None
    description: str | None
    price_cents: int | None  # in the smallest unit; null without a fixed price
    unit: str | None  # what the price is for, for example hour
    tax_rate: str | None  # per cent, 0 to 100, like 20 or 7.5
    tax_name: str | None  # as an invoice shall call the tax: VAT
    is_active: bool


@dataclass(slots=True, kw_only=True)
class BusinessOnlinePresence(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    business_id: str
    kind: Literal["website", "facebook", "instagram", "linkedin", "x", "youtube", "tiktok", "google_business", "other"]
    url: str
    handle: str | None  # the name there, for example @engines
    description: str | None


@dataclass(slots=True, kw_only=True)
class BusinessPhysicalPresence(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    business_id: str
    name: str
    description: str | None
    address: str | None


@dataclass(slots=True, kw_only=True)
class BusinessProfile(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    business_id: str
    tagline: str | None
    about: str | None
    mission: str | None
    tone_of_voice: str | None  # how the business wants to sound
    audience: str | None
    founded_on: _dt.date | None
    tax_id: str | None
    email: str | None
    phone: str | None
    website: str | None


@dataclass(slots=True, kw_only=True)
class BusinessWithProperties(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    name: str
    legal_name: str | None
    description: str | None
    industry: str | None
    timezone: str  # an IANA name, like Europe/Berlin
    locale: str
    currency: str
    logo_file_id: str | None
    accent_color: str | None  # of documents and mail, like #1f4e79
    payment_instructions: str | None  # how to pay, in words, on invoices
    bank_name: str | None
    iban: str | None  # printed on unpaid invoices
    bic: str | None
    properties: List[Property] | None = None  # with include=properties


@dataclass(slots=True, kw_only=True)
class Colleague(Model):
    id: str  # the user
    name: str
    email: str
    role: Literal["owner", "admin", "member"]
    may_spend: bool  # buy, renew, switch renewal on and save cards; owners and admins always
    may_approve: bool  # decide what agents propose; owners and admins always
    permissions: List[str]  # as a key has them; owners and admins have * always


@dataclass(slots=True, kw_only=True)
class Column(Model):
    heading: str
    field: str | None  # null when it is not used
    samples: List[str]  # its first values
    filled: int  # records that have a value
    refused: int  # records that are refused for it


@dataclass(slots=True, kw_only=True)
class Contact(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    first_name: str | None
    middle_name: str | None
    last_name: str | None
    prefix: str | None  # before the name: Dr.
    suffix: str | None  # after the name: Jr.
    organization_name: str | None
    job_title: str | None
    birthday: _dt.date | None
    notes: str | None
    external_id: str | None  # what another system calls it; unique
    tags: List[str]  # a change replaces all
    last_message_at: _dt.datetime | None  # the later of the two
    last_inbound_at: _dt.datetime | None  # when they last wrote
    last_outbound_at: _dt.datetime | None  # when they were last written to
    emails: List[Email]
    phone_numbers: List[PhoneNumber]
    addresses: List[Address]
    properties: List[Property] | None = None  # with include=properties


@dataclass(slots=True, kw_only=True)
class ContactNote(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    contact_id: str
    created_by: str | None  # the user, also behind a key or agent; null if unknown
    created_by_agent: bool
    body: str
    kind: Literal["note", "call"]  # call: by phone


class ContactRowInput(TypedDict):
    id: NotRequired[str]  # the contact
    first_name: NotRequired[str | None]
    middle_name: NotRequired[str | None]
    last_name: NotRequired[str | None]
    prefix: NotRequired[str | None]  # before the name: Dr.
    suffix: NotRequired[str | None]  # after the name: Jr.
    organization_name: NotRequired[str | None]
    job_title: NotRequired[str | None]
    birthday: NotRequired[_dt.date | None]
    notes: NotRequired[str | None]
    external_id: NotRequired[str | None]  # what another system calls it; unique
    tags: NotRequired[Sequence[str]]  # a change replaces all
    emails: NotRequired[Sequence[EmailFields]]
    phone_numbers: NotRequired[Sequence[PhoneNumberFields]]
    addresses: NotRequired[Sequence[AddressFields]]
    delete: NotRequired[bool]  # with id alone: delete this row


@dataclass(slots=True, kw_only=True)
class Counts(Model):
    total: int  # records in the file, without empty lines
    processed: int  # the sum of those below
    created: int
    updated: int
    unchanged: int  # as the file says already
    failed: int


class CreditLineFields(TypedDict):
    line_item_id: str  # a line item of the invoice
    quantity: NotRequired[str | None]  # or amountCents; without both, all that is left
    amount_cents: NotRequired[int | None]  # of the line's amount after its discount


@dataclass(slots=True, kw_only=True)
class CreditNote(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    invoice_id: str
    business_id: str
    credit_note_number: str  # per business and without gaps
    currency: str
    reason: str | None
    prices_include_tax: bool
    subtotal_cents: int  # sum of the lines
    discount_cents: int  # the part of the invoice's discount
    tax_cents: int  # sum of the taxes
    taxes: List[Tax]
    total_cents: int  # what is credited
    line_items: List[CreditNoteLine]


@dataclass(slots=True, kw_only=True)
class CreditNoteLine(Model):
    line_item_id: str  # the line item of the invoice
    description: str
    quantity: str | None  # null if only an amount was credited
    amount_cents: int  # before the invoice's discount; before tax unless prices include it
    tax_rate: str | None
    tax_name: str | None


@dataclass(slots=True, kw_only=True)
class CurrencyBalance(Model):
    currency: str
    balance_cents: int  # in the currency's smallest unit; negative is credit


@dataclass(slots=True, kw_only=True)
class CurrencyTotal(Model):
    currency: str
    count: int  # how many invoices
    total_cents: int
    amount_due_cents: int  # still to be paid of issued ones
    amount_to_refund_cents: int  # paid and credited above the total, to be paid back


@dataclass(slots=True, kw_only=True)
class Customer(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    business_id: str
    contact_id: str | None
    type: Literal["individual", "business"]
    name: str
    email: str | None
    phone: str | None
    notes: str | None
    status: Literal["prospect", "active", "inactive"]
    customer_since: _dt.datetime | None
    tags: List[str]  # a change replaces all
    external_id: str | None  # what another system calls it
    properties: List[Property] | None = None  # with include=properties


class CustomerRowInput(TypedDict):
    id: NotRequired[str]  # the customer
    business_id: NotRequired[str]
    contact_id: NotRequired[str | None]
    type: NotRequired[Literal["individual", "business"]]
    name: NotRequired[str]
    email: NotRequired[str | None]
    phone: NotRequired[str | None]
    notes: NotRequired[str | None]
    status: NotRequired[Literal["prospect", "active", "inactive"]]
    customer_since: NotRequired[_dt.datetime | None]
    tags: NotRequired[Sequence[str]]  # a change replaces all
    external_id: NotRequired[str | None]
    delete: NotRequired[bool]  # with id alone: delete this row


@dataclass(slots=True, kw_only=True)
class DNSRecord(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    domain_id: str
    type: str  # A, AAAA, CAA, CNAME, MX, NS, SOA, SRV, TXT, or others made at the provider
    name: str  # relative to the zone; @ is the apex
    content: str  # TXT unquoted, hosts without final dot, SRV: weight port host
    ttl: int  # in seconds; records of one name and type share it
    priority: int | None  # of MX and SRV
    managed_by: Literal["user", "email", "system"]  # only records of user can be changed here


@dataclass(slots=True, kw_only=True)
class Daily(Model):
    limits: Limits
    used: Use
    resets_at: _dt.datetime  # midnight in the timezone of the business


@dataclass(slots=True, kw_only=True)
class Delivery(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    webhook_id: str
    event_id: str  # the webhook-id header; the same in every attempt
    event_type: str
    status: Literal["pending", "retrying", "succeeded", "failed", "canceled"]
    attempts: int  # how often it was sent
    url: str | None  # where the last attempt went
    attempted_at: _dt.datetime | None  # when the last attempt began
    next_attempt_at: _dt.datetime | None
    completed_at: _dt.datetime | None  # when it succeeded or was given up
    duration_ms: int | None  # how long the last attempt took
    response_status: int | None  # null without an answer
    response_body: str | None  # the first 2 KB
    error_message: str | None  # why the last attempt failed
    request_body: str | None  # null when the event was erased
    history: List[Attempt] | None  # the latest attempts, at most eleven, oldest first


@dataclass(slots=True, kw_only=True)
class Domain(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    name: str  # lower-case ASCII; other scripts in their xn-- form
    unicode_name: str  # the name as people read it
    kind: Literal["apex", "subdomain"]
    parent_domain_id: str | None  # of a subdomain
    purpose: Literal["general", "transactional", "marketing"]  # only general gets mail
    status: Literal["pending_verification", "active", "expired", "transferred"]
    source: Literal["registered", "external"]
    verification: Verification | None  # null for registered domains and subdomains
    email: DomainEmail
    registration: Registration | None  # null unless it was registered here


@dataclass(slots=True, kw_only=True)
class DomainContact(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    label: str | None  # kept here alone
    first_name: str
    last_name: str
    organization_name: str | None  # required for names under .ai, .co, .io and .me
    job_title: str | None  # required with organizationName
    address1: str  # street
    address2: str | None
    city: str
    state_province: str
    postal_code: str
    country: str  # ISO 3166, two letters
    email: str
    phone: str  # E.164, or a number of the country


@dataclass(slots=True, kw_only=True)
class DomainEmail(Model):
    enabled: bool
    mode: Literal["full", "sending"] | None  # null without email
    dkim_selector: str | None  # of the RSA key; fd-ed25519 is the other key's
    spf: Literal["published", "custom", "missing"] | None  # custom is your own record; null without email
    dkim: Literal["published", "custom", "missing"] | None
    dmarc: Literal["published", "custom", "missing"] | None


@dataclass(slots=True, kw_only=True)
class Duplicate(Model):
    reason: Literal["email", "phone", "name"]  # what they share
    value: str  # the address, the number or the name, folded
    contact_ids: List[str]  # at most 100
    contacts: List[Contact]  # the oldest first, at most 10


@dataclass(slots=True, kw_only=True)
class Effect(Model):
    step: int  # the step's place in steps, from 0
    kind: Literal["create", "update", "delete", "send", "charge", "publish", "call"]
    resource_type: str
    resource_id: str | None  # null for what does not exist yet
    summary: str
    before: Dict[str, Any]  # former values of what changes
    after: Dict[str, Any]  # new values; new:1 names a new record
    amount_cents: int | None
    currency: str | None
    recipients: List[str]
    triggers: List[EffectTrigger]  # the automations and webhooks that would hear of it
    rehearsed: bool  # false for what cannot be rehearsed
    withheld: bool  # its maker is shown no more until a person has approved it


@dataclass(slots=True, kw_only=True)
class EffectTrigger(Model):
    kind: Literal["automation", "webhook"]
    id: str
    name: str


@dataclass(slots=True, kw_only=True)
class Email(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    contact_id: str
    email: str
    label: str | None
    is_primary: bool


class EmailFields(TypedDict):
    email: str
    label: NotRequired[str | None]
    is_primary: NotRequired[bool | None]


@dataclass(slots=True, kw_only=True)
class EmailOptIn(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    email: str
    contact_id: str | None
    status: Literal["pending", "opted_in", "opted_out"]
    source: str | None  # where the consent came from
    opted_in_at: _dt.datetime | None  # the last opt-in; kept when the address opts out
    opted_out_at: _dt.datetime | None  # null unless opted_out


@dataclass(slots=True, kw_only=True)
class EmailRecord(Model):
    type: Literal["MX", "TXT"]
    name: str  # the full name
    content: str  # without quotes
    priority: int | None  # of MX
    state: Literal["found", "missing", "wrong"]
    seen: List[str]  # what the DNS has there; MX with the priority before it
    problem: str | None  # what to do about it, or what the DNS answered; null if found


@dataclass(slots=True, kw_only=True)
class EmailSetup(Model):
    domain_id: str
    name: str
    enabled: bool
    mode: Literal["full", "sending"] | None  # null without email
    records: List[EmailRecord]  # none without email


@dataclass(slots=True, kw_only=True)
class EmailTemplate(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    created_by: str | None  # the user, also behind a key or agent; null if unknown
    created_by_agent: bool
    name: str
    description: str | None
    subject: str  # with placeholders
    body: str  # with placeholders like {{ customer.name }}
    body_format: Literal["markdown", "html"]
    status: Literal["active", "archived"]
    template_key: Literal["invoice", "invoice_reminder", "payment_receipt"] | None
    variables: List[str]  # names in the placeholders of subject and body, sorted


@dataclass(slots=True, kw_only=True)
class Event(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    type: str  # what happened, for example contact.created
    resource_type: str  # the kind of resource, for example contact
    resource_id: str
    actor_kind: Literal["user", "agent", "api", "automation", "system"]
    actor_id: str | None  # the user, agent, API key or automation; null for the service itself
    door: Literal["rest", "agent", "automation", "console", "admin", "system"]  # how the caller came in
    request_id: str  # the request that caused it
    data: Any  # the resource as GET returned it right after
    previous: Any  # former values of what changed; null for creations
    proposal_id: str | None  # the proposal that was carried out
    approved_by: str | None  # the user who approved that proposal


@dataclass(slots=True, kw_only=True)
class EventOption(Model):
    type: str
    fields: List[str]  # of its data


@dataclass(slots=True, kw_only=True)
class Execution(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    automation_id: str
    status: Literal["queued", "running", "succeeded", "failed", "canceled", "skipped"]
    trigger: Literal["event", "schedule", "manual"]  # what started it
    event_id: str | None  # the event that started it
    event_type: str | None
    input: Dict[str, Any]  # what run was given; scheduledAt for a schedule
    steps: List[StepRun]  # the steps that have begun
    started_at: _dt.datetime | None
    completed_at: _dt.datetime | None
    error_message: str | None


@dataclass(slots=True, kw_only=True)
class File(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    name: str
    content_type: str  # detected from the bytes
    size_bytes: int
    sha256: str  # of the bytes, in hex
    folder_id: str | None  # null for none


@dataclass(slots=True, kw_only=True)
class FileText(Model):
    file_id: str
    name: str
    content_type: str
    text: str
    offset: int  # where the text begins, in characters
    next_offset: int | None  # where it goes on; null at the end
    characters: int  # of the whole text


@dataclass(slots=True, kw_only=True)
class Folder(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    name: str
    parent_folder_id: str | None


@dataclass(slots=True, kw_only=True)
class Import(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    object_type: Literal["contacts", "customers"]
    file_name: str
    status: Literal["receiving", "queued", "running", "succeeded", "failed"]
    dry_run: bool  # nothing was stored, and id names nothing
    counts: Counts
    errors: List[Issue]  # the first 1,000 by line; in a list the first 10
    ignored_columns: List[str]  # columns of the file that were not used
    error_message: str | None  # why it failed as a whole
    completed_at: _dt.datetime | None
    lines: List[Line] | None = None  # of a dry run: what 1,000 lines would do
    columns: List[Column] | None = None  # of a dry run of a CSV


@dataclass(slots=True, kw_only=True)
class Invoice(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    business_id: str
    customer_id: str | None
    status: Literal["draft", "issued", "sent", "partially_paid", "paid", "overdue", "void"]
    invoice_number: str | None  # assigned on issue, per business and without gaps
    bill_to_name: str | None
    bill_to_email: str | None
    bill_to_address_line1: str | None
    bill_to_address_line2: str | None
    bill_to_city: str | None
    bill_to_state: str | None
    bill_to_postal_code: str | None
    bill_to_country: str | None
    discount_percent: str | None  # taken from all lines, after their own discounts
    prices_include_tax: bool  # whether unitAmountCents includes the tax
    subtotal_cents: int  # sum of the lines, before discounts
    discount_cents: int  # all discounts, of lines and of the invoice
    tax_cents: int  # sum of the taxes
    taxes: List[Tax]  # one for each rate and name
    total_cents: int  # subtotal less discount, with the taxes
    total_amount_cents: int  # totalCents, in the currency's smallest unit
    amount_paid_cents: int  # payments that are not void, less refunds
    amount_credited_cents: int  # the sum of the credit notes
    amount_due_cents: int  # still to be paid; 0 on a void invoice
    amount_to_refund_cents: int  # paid and credited above the total
    currency: str
    issued_at: _dt.datetime | None
    sent_at: _dt.datetime | None
    due_at: _dt.datetime | None
    overdue_at: _dt.datetime | None
    notes: str | None
    terms: str | None
    data: Dict[str, Any]  # anything the caller wants to keep with the invoice
    line_items: List[LineItem]
    customer: Customer | None = None  # include=customer; null if deleted
    message: InvoiceMail | None = None  # to agents that sent it: the mail


@dataclass(slots=True, kw_only=True)
class InvoiceMail(Model):
    id: str
    to: List[str]
    subject: str
    status: Literal["scheduled", "queued"]
    scheduled_at: _dt.datetime | None


@dataclass(slots=True, kw_only=True)
class Issue(Model):
    line: int  # where the record begins, from 1
    field: str | None  # null when it is about the whole record
    message: str
    values: List[Value] | None = None  # what the record says, unless it is long


@dataclass(slots=True, kw_only=True)
class Kept(Model):
    resource_type: str
    resource_id: str
    field: str  # empty for the whole record
    why: str


@dataclass(slots=True, kw_only=True)
class LeftOutStep(Model):
    position: int  # its place in the whole plan, from 0
    operation: str
    input: Dict[str, Any]  # the whole input, path fields included
    save_as: str | None


@dataclass(slots=True, kw_only=True)
class Limits(Model):
    spend_cents: int | None  # cents charged
    messages: int | None  # mails sent
    new_recipients: int | None  # addresses that the organization never wrote to before
    deletions: int | None
    dns_changes: int | None


@dataclass(slots=True, kw_only=True)
class Line(Model):
    line: int
    action: Literal["create", "update", "unchanged", "fail"]
    id: str | None  # the record that it would change
    values: List[Value]  # what it says, by field


@dataclass(slots=True, kw_only=True)
class LineItem(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    invoice_id: str
    description: str
    quantity: str  # a decimal without trailing zeros
    unit_amount_cents: int  # in the currency's smallest unit; negative is a discount
    amount_cents: int  # quantity times unitAmountCents, rounded half away from zero
    currency: str
    position: int  # starts at 0
    tax_rate: str | None  # per cent; null is no tax
    tax_name: str | None
    discount_percent: str | None  # null unless it was given in per cent
    discount_cents: int  # taken from amountCents


class LineItemFields(TypedDict):
    description: str
    quantity: NotRequired[str | None]  # 12 digits before the point, 6 after; default 1
    unit_amount_cents: int  # negative: discount
    tax_rate: NotRequired[str | None]  # per cent, 0 to 100, like 20 or 7.5; null is no tax
    tax_name: NotRequired[str | None]  # as the invoice shall call the tax: VAT
    discount_percent: NotRequired[str | None]  # of this line, 0 to 100; or discountCents
    discount_cents: NotRequired[int | None]  # of this line, at most its amount


@dataclass(slots=True, kw_only=True)
class LinkedContact(Model):
    role: Literal["from", "to", "cc", "bcc", "mentioned"]
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    first_name: str | None
    middle_name: str | None
    last_name: str | None
    prefix: str | None  # before the name: Dr.
    suffix: str | None  # after the name: Jr.
    organization_name: str | None
    job_title: str | None
    birthday: _dt.date | None
    notes: str | None
    external_id: str | None  # what another system calls it; unique
    tags: List[str]  # a change replaces all
    last_message_at: _dt.datetime | None  # the later of the two
    last_inbound_at: _dt.datetime | None  # when they last wrote
    last_outbound_at: _dt.datetime | None  # when they were last written to
    emails: List[Email]
    phone_numbers: List[PhoneNumber]
    addresses: List[Address]
    properties: List[Property] | None = None  # with include=properties


@dataclass(slots=True, kw_only=True)
class Me(Model):
    organization: MeOrganization
    business: MeBusiness
    plan: Literal["free", "starter", "professional", "enterprise"]
    permissions: List[str]  # what the key may do, as <resource>:read and <resource>:write
    actor_kind: str
    actor_id: str | None
    timezone: str  # of the business, an IANA name
    locale: str  # of the business, a BCP 47 tag
    currency: str  # of the business, ISO 4217 in lower case
    now: _dt.datetime  # the service's clock
    limits: MeLimits | None  # an agent's allowance; null for others, whose headers tell it
    daily: Daily | None  # an agent's limits per day and what it has used; null for others


@dataclass(slots=True, kw_only=True)
class MeBusiness(Model):
    id: str
    name: str


@dataclass(slots=True, kw_only=True)
class MeLimits(Model):
    per_minute: int  # tool calls of all agents of the organization together
    used: int
    remaining: int
    reset_seconds: int  # until the whole allowance is back


@dataclass(slots=True, kw_only=True)
class MeOrganization(Model):
    id: str
    name: str
    status: str


@dataclass(slots=True, kw_only=True)
class Merge(Model):
    dry_run: bool  # nothing was changed
    contact: Contact  # the one that stays, with what it gained
    before: Contact  # the one that stays, as it was
    merged: Contact  # the one that was deleted, as it was
    fields: List[str]  # those of the contact that changed
    moved: List[MergedRows]  # the records that name the contact now


@dataclass(slots=True, kw_only=True)
class MergedRows(Model):
    type: str  # customer, email, task and so on
    ids: List[str]
    changed: List[str]  # of these: no longer primary, or only suggested now
    dropped: List[str]  # deleted, because the contact has the same


@dataclass(slots=True, kw_only=True)
class Message(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    direction: Literal["inbound", "outbound"]
    status: Literal["draft", "scheduled", "queued", "sending", "sent", "delivered", "bounced", "failed", "canceled", "received"]
    purpose: Literal["transactional", "marketing"]
    thread_id: str  # the same for a message and all its answers
    in_reply_to_id: str | None  # the message it answers
    from_: str
    from_name: str | None  # the name beside from, of what is sent
    reply_to: str | None
    to: List[str]
    cc: List[str]
    bcc: List[str]
    subject: str
    text: str | None
    html: str | None  # sanitized: no scripts, forms or frames
    template_id: str | None  # the email template it was rendered from
    file_ids: List[str]  # the files of its attachments
    invoice_ids: List[str]  # the invoices it is about; their PDFs are attached
    contact_id: str | None
    customer_id: str | None
    scheduled_at: _dt.datetime | None  # when to send it
    sent_at: _dt.datetime | None  # when it was sent; for a received message, as its headers say
    error_message: str | None  # why it was not sent, or not to everybody
    auto_submitted: bool  # true if a machine wrote or sent it, not a person
    authentication: Authentication | None  # of received mail: whether to believe from
    letterhead: bool  # the letterhead of the business surrounds html
    contacts: List[LinkedContact] | None = None  # with include=contacts


@dataclass(slots=True, kw_only=True)
class MessageAttachment(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    message_id: str
    file_id: str | None  # null once the file is purged
    file_name: str
    content_type: str
    size_bytes: int


@dataclass(slots=True, kw_only=True)
class MessageContact(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    message_id: str
    contact_id: str
    role: Literal["from", "to", "cc", "bcc", "mentioned"]


@dataclass(slots=True, kw_only=True)
class Notification(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    kind: Literal["mentioned", "assigned", "answered", "proposal", "invoice_paid", "payment_failed", "mail_failed", "backup_failed", "domain", "webhook"]
    resource_type: str  # what it is about, for example thread
    resource_id: str
    actor_kind: Literal["user", "agent", "api", "automation", "system"]  # who did it
    actor_id: str | None
    actor_name: str | None
    subject: str  # the name of what it is about, or what failed
    text: str | None  # what was written, or why it failed
    read_at: _dt.datetime | None  # null while it is unread


@dataclass(slots=True, kw_only=True)
class Operation(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    type: Literal["domain_registration", "domain_renewal"]
    status: Literal["queued", "running", "succeeded", "failed"]  # poll until it is final
    resource_type: str | None  # domain, on success
    resource_id: str | None  # the domain, on success
    resource_name: str
    workflow_id: str
    payment_intent_id: str | None  # the payment provider's id of the charge
    error_code: str | None
    error_message: str | None  # why it failed, and whether it was refunded
    completed_at: _dt.datetime | None


@dataclass(slots=True, kw_only=True)
class OperationOption(Model):
    name: str
    summary: str
    fields: List[str]  # of its input
    required: List[str]  # of these


class OptInRowInput(TypedDict):
    id: NotRequired[str]  # the email opt-in
    email: NotRequired[str]
    contact_id: NotRequired[str | None]
    status: NotRequired[Literal["pending", "opted_in", "opted_out"]]
    source: NotRequired[str | None]  # where the consent came from
    opted_in_at: NotRequired[_dt.datetime | None]  # when it opted in; by default now, for opted_in
    opted_out_at: NotRequired[_dt.datetime | None]  # when it opted out; by default now, for opted_out
    delete: NotRequired[bool]  # with id alone: delete this row


@dataclass(slots=True, kw_only=True)
class Payment(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    invoice_id: str
    amount_cents: int
    paid_at: _dt.datetime
    method: Literal["cash", "check", "bank_transfer", "card", "other"]
    note: str | None
    voided_at: _dt.datetime | None  # when the payment was voided
    refunded_cents: int  # how much of it was given back


@dataclass(slots=True, kw_only=True)
class PhoneNumber(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    contact_id: str
    phone_number: str  # E.164, for example +14155550100
    country_code: str  # the calling code, for example 44
    national_number: str
    label: str | None


class PhoneNumberFields(TypedDict):
    phone_number: str  # E.164, or national with countryCode
    country_code: NotRequired[str | None]  # the calling code, for example 44
    national_number: NotRequired[str | None]  # checked against phoneNumber
    label: NotRequired[str | None]


@dataclass(slots=True, kw_only=True)
class Placeholder(Model):
    syntax: str
    means: str


@dataclass(slots=True, kw_only=True)
class Preview(Model):
    since: _dt.datetime  # how far back it looked
    complete: bool  # false: there was more to look at than one call does
    checked: int  # events, or times of the schedule
    matched: int  # how often it would have run
    unclear: int  # how often the condition could not be evaluated
    days: List[PreviewDay]  # days on which something was checked, newest first, in UTC
    runs: List[RehearsedRun]  # the newest runs, and those that the condition could not decide
    skipped: List[SkippedRun]  # the newest of those for which the condition is false


@dataclass(slots=True, kw_only=True)
class PreviewDay(Model):
    date: _dt.date
    checked: int
    matched: int


@dataclass(slots=True, kw_only=True)
class Property(Model):
    key: str
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    definition_id: str
    value_type: Literal["text", "number", "boolean", "date", "url", "select", "multi_select"]
    object_type: Literal["contact", "customer", "business"]
    object_id: str
    value_text: str | None  # for text, url or select
    value_number: str | None  # an exact decimal
    value_boolean: bool | None
    value_date: _dt.date | None
    value_text_list: List[str] | None  # for multi_select
    status: Literal["suggested", "confirmed", "dismissed"]
    set_by_kind: Literal["user", "agent", "api", "automation", "system"]
    set_by_user_id: str | None
    set_by_agent_id: str | None
    sources: List[PropertyValueSource]


@dataclass(slots=True, kw_only=True)
class PropertyDefinition(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    object_type: Literal["contact", "customer", "business"]
    key: str  # unique per object type
    value_type: Literal["text", "number", "boolean", "date", "url", "select", "multi_select"]
    name: str
    description: str | None
    options: List[str] | None  # of a select or multi_select; others have none
    is_required: bool  # whether forms should ask for it; not enforced


class PropertySourceInput(TypedDict):
    url: str
    title: NotRequired[str | None]


@dataclass(slots=True, kw_only=True)
class PropertyValue(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    definition_id: str
    value_type: Literal["text", "number", "boolean", "date", "url", "select", "multi_select"]
    object_type: Literal["contact", "customer", "business"]
    object_id: str
    value_text: str | None  # for text, url or select
    value_number: str | None  # an exact decimal
    value_boolean: bool | None
    value_date: _dt.date | None
    value_text_list: List[str] | None  # for multi_select
    status: Literal["suggested", "confirmed", "dismissed"]
    set_by_kind: Literal["user", "agent", "api", "automation", "system"]
    set_by_user_id: str | None
    set_by_agent_id: str | None
    sources: List[PropertyValueSource]


@dataclass(slots=True, kw_only=True)
class PropertyValueSource(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    value_id: str
    url: str
    title: str | None


@dataclass(slots=True, kw_only=True)
class Proposal(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    title: str
    reason: str | None  # why the maker wants it, in its own words
    status: Literal["planned", "pending", "approved", "executing", "executed", "failed", "rejected", "canceled", "expired", "stale"]
    because: Literal["ask", "limit", "guard"] | None  # why a person must decide; null when nobody must
    because_text: str | None
    steps: List[ProposalStep]  # at most 50; of an undo 500, or one, undo.create
    left_out: List[LeftOutStep]  # steps of the plan that a person left out; they are not done
    effects: List[Effect]  # what the steps would do, or did
    skipped: List[Skipped]  # of an undo: what stays as it is, and why
    totals: ProposalTotals
    summary: str  # the first effect in a sentence
    effects_total: int  # how many effects it has; effects[] may show fewer
    withheld: bool  # some is shown to its maker only once a person has approved it
    difference: List[str]  # of a stale one: what is no longer as it was shown
    sha256: str  # of its canonical steps; another one once it was shown anew
    maker_kind: Literal["user", "agent", "api", "automation", "system"]
    maker_id: str | None
    agent_id: str | None
    business_id: str
    expires_at: _dt.datetime
    decided_by: str | None  # the person who approved or rejected it
    decided_at: _dt.datetime | None
    rejection_reason: str | None
    completed_at: _dt.datetime | None  # when it was carried out, or failed
    replaces_id: str | None  # the proposal that this one changes
    undoes_import_id: str | None  # the import that it takes back
    approval_url: str  # where a person decides, after signing in


@dataclass(slots=True, kw_only=True)
class ProposalStep(Model):
    operation: str
    input: Dict[str, Any]  # the whole input, path fields included
    save_as: str | None
    result: Any  # the answer's data; of a large undo events, done and kept
    result_omitted: bool
    withheld: bool  # its maker is shown no more until a person has approved it
    error: StepError | None
    started_at: _dt.datetime | None
    completed_at: _dt.datetime | None


@dataclass(slots=True, kw_only=True)
class ProposalTotals(Model):
    amount_cents: int
    currency: str | None
    mails: int  # recipients of mail
    deletions: int


@dataclass(slots=True, kw_only=True)
class Quote(Model):
    domain: str
    available: bool
    period_years: int
    amount_cents: int  # the whole charge, with WHOIS privacy and no other fees
    currency: str
    premium: bool
    registration_price_cents: int  # the first year
    renewal_price_cents: int  # each further year


class RegistrantInput(TypedDict):
    label: NotRequired[str | None]  # kept here alone
    first_name: str
    last_name: str
    organization_name: NotRequired[str | None]  # required for names under .ai, .co, .io and .me
    job_title: NotRequired[str | None]  # required with organizationName
    address1: str  # street
    address2: NotRequired[str | None]
    city: str
    state_province: str
    postal_code: str
    country: str  # ISO 3166, two letters
    email: str
    phone: str  # E.164, or a number of the country


@dataclass(slots=True, kw_only=True)
class Registration(Model):
    registrar: str
    registered_at: _dt.datetime
    expires_at: _dt.datetime
    auto_renew: bool  # renews itself 30 days before expiresAt
    transfer_lock: bool
    whois_privacy: bool  # always true
    contact_id: str | None  # the domain contact that it is registered for
    contact_verification: Literal["pending", "verified"]  # of the email
    transfer: Transfer | None  # to another registrar; null when there is none


@dataclass(slots=True, kw_only=True)
class Rehearsal(Model):
    runs: List[RehearsedRun]  # one for each event, newest first


@dataclass(slots=True, kw_only=True)
class RehearsedRun(Model):
    event_id: str | None
    event_type: str | None
    created_at: _dt.datetime | None  # of the event
    runs: bool  # whether the condition holds
    error_message: str | None  # why the condition could not be evaluated
    steps: List[RehearsedStep]


@dataclass(slots=True, kw_only=True)
class RehearsedStep(Model):
    operation: str
    input: Any  # what the operation would receive
    input_omitted: bool  # the input is too large to show
    error_message: str | None  # why the input could not be built


@dataclass(slots=True, kw_only=True)
class ReminderRule(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    business_id: str
    days_after_due: int  # days after dueAt; negative is before


@dataclass(slots=True, kw_only=True)
class Rendered(Model):
    subject: str
    html: str  # sanitized: no scripts, forms or frames
    text: str  # the same as plain text


@dataclass(slots=True, kw_only=True)
class RenewalQuote(Model):
    domain_id: str
    domain: str
    period_years: int
    amount_cents: int  # the whole charge, with no other fees
    currency: str
    renewal_price_cents: int  # each year
    expires_at: _dt.datetime  # when the registration ends now
    renewed_until: _dt.datetime  # when it would end


@dataclass(slots=True, kw_only=True)
class Report(Model):
    name: str
    from_: _dt.datetime | None  # null for all of time
    to: _dt.datetime
    group_by: str
    rows: List[Row]  # one for each group and currency, at most limit
    totals: List[Row]  # one for each currency, over all rows
    has_more: bool  # whether rows were left out; totals count them


@dataclass(slots=True, kw_only=True)
class Row(Model):
    group: str | None  # like 2026-03, 2026-W12 or 2026-Q1, an id, an age; null in totals
    name: str | None  # what people call it
    currency: str | None = None
    rate: str | None = None  # of a tax, in per cent
    count: int | None = None  # invoices; of mail, mails received; of agents, calls that changed something
    invoiced_cents: int | None = None  # of taxes, without the tax
    received_cents: int | None = None  # of taxes, without the tax
    credited_cents: int | None = None  # of taxes, without the tax
    amount_due_cents: int | None = None
    overdue_cents: int | None = None
    tax_cents: int | None = None  # invoiced, less credited
    received_tax_cents: int | None = None  # the tax in what was received
    oldest_due_at: _dt.datetime | None = None
    answered: int | None = None  # mails that were answered
    waiting: int | None = None  # threads that wait for an answer now
    median_minutes: int | None = None  # half of the answers took less
    changes: int | None = None
    proposals: int | None = None
    approved: int | None = None
    rejected: int | None = None
    used: Use | None = None  # of the daily limits, over the time


@dataclass(slots=True, kw_only=True)
class Search(Model):
    query: str
    results: List[SearchResult]


@dataclass(slots=True, kw_only=True)
class SearchResult(Model):
    status: Literal["ok", "unsupported_tld"]
    domain: str
    available: bool | None = None  # it can be registered; a premium name cannot
    premium: bool | None = None
    registration_price_cents: int | None = None  # first year, or null
    renewal_price_cents: int | None = None  # a year, all in, or null


@dataclass(slots=True, kw_only=True)
class SeenValue(Model):
    name: str
    value: Any  # null also where there is none or it is too large


@dataclass(slots=True, kw_only=True)
class Skipped(Model):
    resource_type: str
    resource_id: str | None
    field: str  # empty for the whole record
    why: str
    instead: str | Dict[str, Any]  # what to do in its place: words, or a call


@dataclass(slots=True, kw_only=True)
class SkippedRun(Model):
    event_id: str | None
    event_type: str | None
    created_at: _dt.datetime | None  # of the event
    saw: List[SeenValue]  # what the condition names, and its value


@dataclass(slots=True, kw_only=True)
class Step(Model):
    operation: str  # one that agents have, like tasks.create
    input: Dict[str, Any]  # with path fields and {{ placeholders }}
    save_as: str | None  # names answer for later steps


@dataclass(slots=True, kw_only=True)
class StepError(Model):
    code: str
    message: str
    details: Any  # as the API would give them


class StepInput(TypedDict):
    operation: str  # one that agents have, like tasks.create
    input: NotRequired[Mapping[str, Any]]  # with path fields and {{ placeholders }}
    save_as: NotRequired[str | None]  # names answer for later steps


@dataclass(slots=True, kw_only=True)
class StepRun(Model):
    operation: str
    input: Dict[str, Any]  # with its placeholders filled in
    input_omitted: bool  # too large to keep, or the caller may not read it
    output: Any  # the answer's data
    output_omitted: bool  # too large to show, a secret, or not the caller's to read
    error: StepError | None  # the refusal; while a step is retried, the last one
    attempts: int
    started_at: _dt.datetime
    completed_at: _dt.datetime | None


@dataclass(slots=True, kw_only=True)
class Task(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    title: str
    description: str | None
    status: Literal["open", "in_progress", "completed", "canceled"]
    priority: Literal["low", "normal", "high", "urgent"]
    due_at: _dt.datetime | None
    contact_id: str | None
    customer_id: str | None
    business_id: str | None
    completed_at: _dt.datetime | None  # when the status became completed; otherwise null


@dataclass(slots=True, kw_only=True)
class TaskActivity(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    task_id: str
    kind: Literal["created", "status_changed", "assigned", "unassigned", "updated", "comment"]
    actor_kind: Literal["user", "agent", "api", "automation", "system"]
    actor_id: str | None
    body: str | None  # the text of a comment
    changes: Dict[str, TaskChange] | None  # the fields that changed; for assigned and unassigned, userId


@dataclass(slots=True, kw_only=True)
class TaskAssignee(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    task_id: str
    user_id: str


@dataclass(slots=True, kw_only=True)
class TaskChange(Model):
    from_: str | None
    to: str | None


class TaskRowInput(TypedDict):
    id: NotRequired[str]  # the task
    title: NotRequired[str]
    description: NotRequired[str | None]
    status: NotRequired[Literal["open", "in_progress", "completed", "canceled"]]
    priority: NotRequired[Literal["low", "normal", "high", "urgent"]]
    due_at: NotRequired[_dt.datetime | None]
    contact_id: NotRequired[str | None]
    customer_id: NotRequired[str | None]
    business_id: NotRequired[str | None]
    assignee_ids: NotRequired[Sequence[str]]  # members, by their ids in members_list
    delete: NotRequired[bool]  # with id alone: delete this row


@dataclass(slots=True, kw_only=True)
class Tax(Model):
    rate: str  # per cent, a decimal without trailing zeros
    name: str | None
    base_cents: int  # what is taxed, without the tax
    amount_cents: int  # the tax, rounded once over the whole invoice


@dataclass(slots=True, kw_only=True)
class Thread(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    subject: str  # at first, that of its first message
    status: Literal["open", "waiting", "closed"]  # a received message opens it again
    assignee_id: str | None  # the member who takes care of it
    snoozed_until: _dt.datetime | None  # nobody needs to look before; null again when mail comes in
    contact_id: str | None  # whom it is with
    customer_id: str | None
    last_message_at: _dt.datetime  # when the last message came in, was written or sent
    message_count: int  # drafts included
    unread: bool  # true from the moment that mail comes in
    last_message: ThreadMessage | None = None  # with include=lastMessage: the latest


@dataclass(slots=True, kw_only=True)
class ThreadMessage(Model):
    id: str
    direction: Literal["inbound", "outbound"]
    status: Literal["draft", "scheduled", "queued", "sending", "sent", "delivered", "bounced", "failed", "canceled", "received"]
    from_: str
    to: List[str]
    preview: str  # the beginning of its text, without what it quotes


@dataclass(slots=True, kw_only=True)
class ThreadNote(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    thread_id: str
    created_by: str | None  # the user, also behind a key or agent; null if unknown
    created_by_agent: bool
    body: str


@dataclass(slots=True, kw_only=True)
class Totals(Model):
    totals: List[CurrencyTotal]  # one for each currency that the invoices have


@dataclass(slots=True, kw_only=True)
class Transaction(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    customer_id: str
    type: Literal["invoice", "payment", "credit", "charge"]  # payments and credits reduce the debt
    amount_cents: int  # always positive, in the currency's smallest unit
    currency: str
    occurred_at: _dt.datetime
    description: str | None
    invoice_id: str | None
    payment_id: str | None
    credit_note_id: str | None


@dataclass(slots=True, kw_only=True)
class Transfer(Model):
    status: Literal["requested", "completed"]
    requested_at: _dt.datetime


@dataclass(slots=True, kw_only=True)
class TransferStarted(Model):
    auth_code: str | None  # for the other registrar; null when it is mailed to the registrant
    transfer: Transfer


@dataclass(slots=True, kw_only=True)
class Trigger(Model):
    kind: Literal["event", "schedule", "manual"]
    event: str | None  # for kind event: its type, for example contact.created
    cron: str | None  # for kind schedule: five cron fields like 0 9 * * 1-5, or @hourly, @daily etc.
    timezone: str | None  # for kind schedule: an IANA name; by default UTC


class TriggerInput(TypedDict):
    kind: Literal["event", "schedule", "manual"]
    event: NotRequired[str | None]  # for kind event: its type, for example contact.created
    cron: NotRequired[str | None]  # for kind schedule: five cron fields like 0 9 * * 1-5, or @hourly, @daily etc.
    timezone: NotRequired[str | None]  # for kind schedule: an IANA name; by default UTC


@dataclass(slots=True, kw_only=True)
class Unmerge(Model):
    contact: Contact  # the one that stayed, without what it had gained
    restored: Contact  # the one that is back
    fields: List[str]  # those of the contact that are as before the merge
    moved: List[MergedRows]  # the records that name the restored contact again
    kept: List[Kept]  # what stays as it is, because it was changed since


@dataclass(slots=True, kw_only=True)
class Unread(Model):
    unread: int
    by_kind: Dict[str, int]  # kinds without any are left out


@dataclass(slots=True, kw_only=True)
class Use(Model):
    spend_cents: int
    messages: int
    new_recipients: int
    deletions: int
    dns_changes: int


@dataclass(slots=True, kw_only=True)
class Value(Model):
    field: str
    before: str | None  # what the record that it changes has now; null for nothing
    after: str


@dataclass(slots=True, kw_only=True)
class Verification(Model):
    record_name: str
    record_value: str
    verified_at: _dt.datetime | None


@dataclass(slots=True, kw_only=True)
class View(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    created_by: str | None  # the user, also behind a key; else the agent or the key
    object_type: str  # the list, as exports name it: contacts
    name: str
    query: Dict[str, Any]  # parameters of the list: {"tag": ["vip"]}
    columns: List[str]  # fields that a table shows; empty for the usual
    shared: bool  # everybody sees it; else only its maker


@dataclass(slots=True, kw_only=True)
class Webhook(Model):
    id: str
    created_at: _dt.datetime
    updated_at: _dt.datetime
    deleted_at: _dt.datetime | None
    organization_id: str
    url: str  # https
    events: List[str]  # event types like contact.created; * is every type
    description: str | None
    status: Literal["active", "disabled"]
    disabled_reason: Literal["gone", "failing", "maker_left"] | None  # null when a caller did
    previous_secret_until: _dt.datetime | None  # until then the previous secret also signs
    secret: str | None  # signs deliveries; shown once, on creation or rotation


class AutomationExecutionsResource(Resource):
    """The operations ``automation_executions.*``."""

    def cancel(self, id: str) -> Execution:
        """Cancel an execution: it ends before its next step."""
        return self._client.call(Execution, "POST", path_of("/v1/automation-executions/{}/cancel", id))

    def get(self, id: str) -> Execution:
        """Get an execution."""
        return self._client.call(Execution, "GET", path_of("/v1/automation-executions/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt"] | None = None, automation_id: str | None = None, status: Sequence[Literal["queued", "running", "succeeded", "failed", "canceled", "skipped"]] | None = None) -> Pages[Execution]:
        """List executions, newest first. An execution is skipped when the condition was false."""
        return self._client.pages(Execution, "/v1/automation-executions", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "automationId": automation_id, "status": status}, True)

    def retry(self, id: str) -> Execution:
        """Continue an execution from the step that failed. Completed steps are not repeated. If the automation was
        changed in the meantime, and the completed steps are still the same, the rest run as they are now.
        """
        return self._client.call(Execution, "POST", path_of("/v1/automation-executions/{}/retry", id))


class AutomationsExecutionsResource(Resource):
    """The operations ``automations.executions.*``."""

    def list(self, automation_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, status: Sequence[Literal["queued", "running", "succeeded", "failed", "canceled", "skipped"]] | None = None) -> Pages[Execution]:
        """List an automation's executions, newest first."""
        return self._client.pages(Execution, path_of("/v1/automations/{}/executions", automation_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "status": status}, False)


class AutomationsResource(Resource):
    """The operations ``automations.*``."""

    @cached_property
    def executions(self) -> AutomationsExecutionsResource:
        return AutomationsExecutionsResource(self._client)

    def create(self, *, name: str, trigger: TriggerInput, steps: Sequence[StepInput], description: str | None | Omit = OMIT, status: Literal["active", "paused"] | Omit = OMIT, condition: str | None | Omit = OMIT) -> Automation:
        """Create an automation. Steps run in order, with placeholders over event, input and what earlier steps saved
        in their texts. A refused step ends the execution. A step's input is the operation's whole input as one
        object, path fields included. A text that is a single placeholder becomes the value itself. An automation
        acts with the permissions of whoever last changed its steps: a step that the caller may not take is refused,
        and so is an event whose resource the caller may not read.
        """
        return self._client.call(Automation, "POST", "/v1/automations", body={"name": name, "description": description, "status": status, "trigger": wire(trigger), "condition": condition, "steps": wire(steps)})

    def delete(self, id: str) -> None:
        """Delete an automation and cancel its executions; a running one ends before its next step."""
        self._client.call(object, "DELETE", path_of("/v1/automations/{}", id))

    def get(self, id: str) -> Automation:
        """Get an automation."""
        return self._client.call(Automation, "GET", path_of("/v1/automations/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None) -> Pages[Automation]:
        """List automations, newest first."""
        return self._client.pages(Automation, "/v1/automations", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by}, True)

    def options(self, *, query: str | None = None) -> AutomationOptions:
        """List what automations can be made of: events, operations and placeholders."""
        return self._client.call(AutomationOptions, "GET", "/v1/automations/options", query={"query": query})

    def preview(self, *, trigger: TriggerInput, steps: Sequence[StepInput], condition: str | None | Omit = OMIT, input: Mapping[str, Any] | Omit = OMIT, days: int | Omit = OMIT, limit: int | Omit = OMIT) -> Preview:
        """Show what an automation would have done in the past days, without saving or doing it. Checks every event of
        the trigger's type, or every time of the schedule, newest first, up to 10,000 of them or two seconds:
        complete says whether that was all. A trigger of kind manual runs once, with the given input.
        """
        return self._client.call(Preview, "POST", "/v1/automations/preview", body={"trigger": wire(trigger), "condition": condition, "steps": wire(steps), "input": input, "days": days, "limit": limit})

    def restore(self, id: str) -> Automation:
        """Restore a deleted automation. Works until deleted rows are purged. References to it that the deletion
        cleared come back too.
        """
        return self._client.call(Automation, "POST", path_of("/v1/automations/{}/restore", id))

    def run(self, id: str, *, input: Mapping[str, Any] | Omit = OMIT, event_id: str | None | Omit = OMIT) -> Execution:
        """Run an automation now. Answers with the execution, which continues on its own. The condition applies here
        too. With eventId, the steps see that event, as if it had just happened.
        """
        return self._client.call(Execution, "POST", path_of("/v1/automations/{}/run", id), body={"input": input, "eventId": event_id})

    def test(self, id: str, *, limit: int | Omit = OMIT, input: Mapping[str, Any] | Omit = OMIT) -> Rehearsal:
        """Show what an automation would do, without doing it. Evaluates the condition on the latest events of the
        trigger's type and shows the inputs of the steps. A trigger of another kind runs once, with the given input.
        What a step would save is unknown, so its placeholders stay.
        """
        return self._client.call(Rehearsal, "POST", path_of("/v1/automations/{}/test", id), body={"limit": limit, "input": input})

    def update(self, id: str, *, name: str | Omit = OMIT, description: str | None | Omit = OMIT, status: Literal["active", "paused"] | Omit = OMIT, trigger: TriggerInput | Omit = OMIT, condition: str | None | Omit = OMIT, steps: Sequence[StepInput] | Omit = OMIT) -> Automation:
        """Change fields of an automation. Pausing cancels the executions that have not begun. One that has begun
        continues with the steps it started with.
        """
        return self._client.call(Automation, "PATCH", path_of("/v1/automations/{}", id), body={"name": name, "description": description, "status": status, "trigger": wire(trigger), "condition": condition, "steps": wire(steps)})


class BusinessesInvoiceRemindersResource(Resource):
    """The operations ``businesses.invoice_reminders.*``."""

    def create(self, business_id: str, *, days_after_due: int) -> ReminderRule:
        """Remind of every invoice that is not paid, some days after or before it is due. The reminder goes to
        billToEmail, with the template invoice_reminder and the PDF: once for each invoice and rule, and never after
        it is paid. It begins with invoices whose day comes from now on. A new business has no rules.
        """
        return self._client.call(ReminderRule, "POST", path_of("/v1/businesses/{}/invoice-reminders", business_id), body={"daysAfterDue": days_after_due})

    def delete(self, business_id: str, invoice_reminder_id: str) -> None:
        """Stop reminding on that day."""
        self._client.call(object, "DELETE", path_of("/v1/businesses/{}/invoice-reminders/{}", business_id, invoice_reminder_id))

    def get(self, business_id: str, invoice_reminder_id: str) -> ReminderRule:
        """Get one rule by which a business reminds of its invoices."""
        return self._client.call(ReminderRule, "GET", path_of("/v1/businesses/{}/invoice-reminders/{}", business_id, invoice_reminder_id))

    def list(self, business_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[ReminderRule]:
        """List when a business reminds of its invoices."""
        return self._client.pages(ReminderRule, path_of("/v1/businesses/{}/invoice-reminders", business_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)


class BusinessesOfferingsResource(Resource):
    """The operations ``businesses.offerings.*``."""

    def create(self, business_id: str, *, name: str, currency: str | None | Omit = OMIT, kind: Literal["product", "service"] | None | Omit = OMIT, description: str | None | Omit = OMIT, price_cents: int | None | Omit = OMIT, unit: str | None | Omit = OMIT, tax_rate: str | None | Omit = OMIT, tax_name: str | None | Omit = OMIT, is_active: bool | Omit = OMIT) -> BusinessOffering:
        """Add an offering to a business. Without currency, the price is in the business's."""
        return self._client.call(BusinessOffering, "POST", path_of("/v1/businesses/{}/offerings", business_id), body={"currency": currency, "name": name, "kind": kind, "description": description, "priceCents": price_cents, "unit": unit, "taxRate": tax_rate, "taxName": tax_name, "isActive": is_active})

    def delete(self, business_id: str, offering_id: str) -> None:
        """Remove an offering from a business."""
        self._client.call(object, "DELETE", path_of("/v1/businesses/{}/offerings/{}", business_id, offering_id))

    def get(self, business_id: str, offering_id: str) -> BusinessOffering:
        """Get an offering of a business."""
        return self._client.call(BusinessOffering, "GET", path_of("/v1/businesses/{}/offerings/{}", business_id, offering_id))

    def list(self, business_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, kind: Sequence[Literal["product", "service"]] | None = None, is_active: bool | None = None, query: str | None = None) -> Pages[BusinessOffering]:
        """List a business's offerings, newest first."""
        return self._client.pages(BusinessOffering, path_of("/v1/businesses/{}/offerings", business_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "kind": kind, "isActive": is_active, "query": query}, False)

    def update(self, business_id: str, offering_id: str, *, currency: str | Omit = OMIT, name: str | Omit = OMIT, kind: Literal["product", "service"] | None | Omit = OMIT, description: str | None | Omit = OMIT, price_cents: int | None | Omit = OMIT, unit: str | None | Omit = OMIT, tax_rate: str | None | Omit = OMIT, tax_name: str | None | Omit = OMIT, is_active: bool | Omit = OMIT) -> BusinessOffering:
        """Change an offering of a business."""
        return self._client.call(BusinessOffering, "PATCH", path_of("/v1/businesses/{}/offerings/{}", business_id, offering_id), body={"currency": currency, "name": name, "kind": kind, "description": description, "priceCents": price_cents, "unit": unit, "taxRate": tax_rate, "taxName": tax_name, "isActive": is_active})


class BusinessesOnlinePresencesResource(Resource):
    """The operations ``businesses.online_presences.*``."""

    def create(self, business_id: str, *, kind: Literal["website", "facebook", "instagram", "linkedin", "x", "youtube", "tiktok", "google_business", "other"], url: str, handle: str | None | Omit = OMIT, description: str | None | Omit = OMIT) -> BusinessOnlinePresence:
        """Add an online presence to a business."""
        return self._client.call(BusinessOnlinePresence, "POST", path_of("/v1/businesses/{}/online-presences", business_id), body={"kind": kind, "url": url, "handle": handle, "description": description})

    def delete(self, business_id: str, online_presence_id: str) -> None:
        """Remove an online presence from a business."""
        self._client.call(object, "DELETE", path_of("/v1/businesses/{}/online-presences/{}", business_id, online_presence_id))

    def get(self, business_id: str, online_presence_id: str) -> BusinessOnlinePresence:
        """Get an online presence of a business."""
        return self._client.call(BusinessOnlinePresence, "GET", path_of("/v1/businesses/{}/online-presences/{}", business_id, online_presence_id))

    def list(self, business_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, kind: Sequence[Literal["website", "facebook", "instagram", "linkedin", "x", "youtube", "tiktok", "google_business", "other"]] | None = None) -> Pages[BusinessOnlinePresence]:
        """List a business's online presences, newest first."""
        return self._client.pages(BusinessOnlinePresence, path_of("/v1/businesses/{}/online-presences", business_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "kind": kind}, False)

    def update(self, business_id: str, online_presence_id: str, *, kind: Literal["website", "facebook", "instagram", "linkedin", "x", "youtube", "tiktok", "google_business", "other"] | Omit = OMIT, url: str | Omit = OMIT, handle: str | None | Omit = OMIT, description: str | None | Omit = OMIT) -> BusinessOnlinePresence:
        """Change an online presence of a business."""
        return self._client.call(BusinessOnlinePresence, "PATCH", path_of("/v1/businesses/{}/online-presences/{}", business_id, online_presence_id), body={"kind": kind, "url": url, "handle": handle, "description": description})


class BusinessesPhysicalPresencesResource(Resource):
    """The operations ``businesses.physical_presences.*``."""

    def create(self, business_id: str, *, name: str, description: str | None | Omit = OMIT, address: str | None | Omit = OMIT) -> BusinessPhysicalPresence:
        """Add a physical presence to a business."""
        return self._client.call(BusinessPhysicalPresence, "POST", path_of("/v1/businesses/{}/physical-presences", business_id), body={"name": name, "description": description, "address": address})

    def delete(self, business_id: str, physical_presence_id: str) -> None:
        """Remove a physical presence from a business."""
        self._client.call(object, "DELETE", path_of("/v1/businesses/{}/physical-presences/{}", business_id, physical_presence_id))

    def get(self, business_id: str, physical_presence_id: str) -> BusinessPhysicalPresence:
        """Get a physical presence of a business."""
        return self._client.call(BusinessPhysicalPresence, "GET", path_of("/v1/businesses/{}/physical-presences/{}", business_id, physical_presence_id))

    def list(self, business_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[BusinessPhysicalPresence]:
        """List a business's physical presences, newest first."""
        return self._client.pages(BusinessPhysicalPresence, path_of("/v1/businesses/{}/physical-presences", business_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)

    def update(self, business_id: str, physical_presence_id: str, *, name: str | Omit = OMIT, description: str | None | Omit = OMIT, address: str | None | Omit = OMIT) -> BusinessPhysicalPresence:
        """Change a physical presence of a business."""
        return self._client.call(BusinessPhysicalPresence, "PATCH", path_of("/v1/businesses/{}/physical-presences/{}", business_id, physical_presence_id), body={"name": name, "description": description, "address": address})


class BusinessesProfileResource(Resource):
    """The operations ``businesses.profile.*``."""

    def get(self, business_id: str) -> BusinessProfile:
        """Get the profile of a business. Every business has one; its fields are null until they are set."""
        return self._client.call(BusinessProfile, "GET", path_of("/v1/businesses/{}/profile", business_id))

    def replace(self, business_id: str, *, tagline: str | None | Omit = OMIT, about: str | None | Omit = OMIT, mission: str | None | Omit = OMIT, tone_of_voice: str | None | Omit = OMIT, audience: str | None | Omit = OMIT, founded_on: _dt.date | None | Omit = OMIT, tax_id: str | None | Omit = OMIT, email: str | None | Omit = OMIT, phone: str | None | Omit = OMIT, website: str | None | Omit = OMIT) -> BusinessProfile:
        """Replace the profile of a business; omitted fields become null."""
        return self._client.call(BusinessProfile, "PUT", path_of("/v1/businesses/{}/profile", business_id), body={"tagline": tagline, "about": about, "mission": mission, "toneOfVoice": tone_of_voice, "audience": audience, "foundedOn": wire(founded_on), "taxId": tax_id, "email": email, "phone": phone, "website": website})

    def update(self, business_id: str, *, tagline: str | None | Omit = OMIT, about: str | None | Omit = OMIT, mission: str | None | Omit = OMIT, tone_of_voice: str | None | Omit = OMIT, audience: str | None | Omit = OMIT, founded_on: _dt.date | None | Omit = OMIT, tax_id: str | None | Omit = OMIT, email: str | None | Omit = OMIT, phone: str | None | Omit = OMIT, website: str | None | Omit = OMIT) -> BusinessProfile:
        """Change fields of the profile of a business."""
        return self._client.call(BusinessProfile, "PATCH", path_of("/v1/businesses/{}/profile", business_id), body={"tagline": tagline, "about": about, "mission": mission, "toneOfVoice": tone_of_voice, "audience": audience, "foundedOn": wire(founded_on), "taxId": tax_id, "email": email, "phone": phone, "website": website})


class BusinessesPropertiesResource(Resource):
    """The operations ``businesses.properties.*``."""

    def create(self, business_id: str, *, definition_id: str, value: str | float | bool | Sequence[str], status: Literal["suggested", "confirmed"] | None | Omit = OMIT, sources: Sequence[PropertySourceInput] | Omit = OMIT) -> PropertyValue:
        """Give a business a property value. A value from an agent is a suggestion unless it says otherwise. A
        confirmed value replaces the one confirmed before. A number may be sent as a string; an array holds strings.
        """
        return self._client.call(PropertyValue, "POST", path_of("/v1/businesses/{}/properties", business_id), body={"definitionId": definition_id, "value": value, "status": status, "sources": wire(sources)})

    def delete(self, business_id: str, property_id: str) -> None:
        """Delete a property value of a business."""
        self._client.call(object, "DELETE", path_of("/v1/businesses/{}/properties/{}", business_id, property_id))

    def get(self, business_id: str, property_id: str) -> PropertyValue:
        """Get a property value of a business."""
        return self._client.call(PropertyValue, "GET", path_of("/v1/businesses/{}/properties/{}", business_id, property_id))

    def list(self, business_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, status: Sequence[Literal["suggested", "confirmed", "dismissed"]] | None = None, definition_id: str | None = None) -> Pages[PropertyValue]:
        """List the property values of a business, newest first."""
        return self._client.pages(PropertyValue, path_of("/v1/businesses/{}/properties", business_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "status": status, "definitionId": definition_id}, False)

    def update(self, business_id: str, property_id: str, *, status: Literal["suggested", "confirmed", "dismissed"] | Omit = OMIT, value: str | float | bool | Sequence[str] | Omit = OMIT) -> PropertyValue:
        """Confirm, dismiss, restore or replace a property value of a business. Use status to confirm a suggestion,
        dismiss a value or restore a dismissed one as a suggestion. Use value to replace a confirmed value, which
        gets a new id. With both, status comes first, and both happen or neither.
        """
        return self._client.call(PropertyValue, "PATCH", path_of("/v1/businesses/{}/properties/{}", business_id, property_id), body={"status": status, "value": value})


class BusinessesResource(Resource):
    """The operations ``businesses.*``."""

    @cached_property
    def invoice_reminders(self) -> BusinessesInvoiceRemindersResource:
        return BusinessesInvoiceRemindersResource(self._client)

    @cached_property
    def offerings(self) -> BusinessesOfferingsResource:
        return BusinessesOfferingsResource(self._client)

    @cached_property
    def online_presences(self) -> BusinessesOnlinePresencesResource:
        return BusinessesOnlinePresencesResource(self._client)

    @cached_property
    def physical_presences(self) -> BusinessesPhysicalPresencesResource:
        return BusinessesPhysicalPresencesResource(self._client)

    @cached_property
    def profile(self) -> BusinessesProfileResource:
        return BusinessesProfileResource(self._client)

    @cached_property
    def properties(self) -> BusinessesPropertiesResource:
        return BusinessesPropertiesResource(self._client)

    def create(self, *, name: str, legal_name: str | None | Omit = OMIT, description: str | None | Omit = OMIT, industry: str | None | Omit = OMIT, timezone: str | Omit = OMIT, locale: str | Omit = OMIT, currency: str | Omit = OMIT, logo_file_id: str | None | Omit = OMIT, accent_color: str | None | Omit = OMIT, payment_instructions: str | None | Omit = OMIT, bank_name: str | None | Omit = OMIT, iban: str | None | Omit = OMIT, bic: str | None | Omit = OMIT) -> Business:
        """Create a business. Keys and agents of the new business work once its agreement is accepted."""
        return self._client.call(Business, "POST", "/v1/businesses", body={"name": name, "legalName": legal_name, "description": description, "industry": industry, "timezone": timezone, "locale": locale, "currency": currency, "logoFileId": logo_file_id, "accentColor": accent_color, "paymentInstructions": payment_instructions, "bankName": bank_name, "iban": iban, "bic": bic})

    def delete(self, id: str) -> None:
        """Delete a business. A business that has API keys or agents cannot be deleted, nor can the last one of an
        organization.
        """
        self._client.call(object, "DELETE", path_of("/v1/businesses/{}", id))

    def get(self, id: str, *, include: Sequence[Literal["properties"]] | None = None) -> BusinessWithProperties:
        """Get a business."""
        return self._client.call(BusinessWithProperties, "GET", path_of("/v1/businesses/{}", id), query={"include": include})

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None, include: Sequence[Literal["properties"]] | None = None, property_key: str | None = None, property_value: str | None = None) -> Pages[BusinessWithProperties]:
        """List the organization's businesses, newest first."""
        return self._client.pages(BusinessWithProperties, "/v1/businesses", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "include": include, "propertyKey": property_key, "propertyValue": property_value}, True)

    def restore(self, id: str) -> Business:
        """Restore a deleted business. Works until deleted rows are purged. References to it that the deletion cleared
        come back too.
        """
        return self._client.call(Business, "POST", path_of("/v1/businesses/{}/restore", id))

    def update(self, id: str, *, name: str | Omit = OMIT, legal_name: str | None | Omit = OMIT, description: str | None | Omit = OMIT, industry: str | None | Omit = OMIT, timezone: str | Omit = OMIT, locale: str | Omit = OMIT, currency: str | Omit = OMIT, logo_file_id: str | None | Omit = OMIT, accent_color: str | None | Omit = OMIT, payment_instructions: str | None | Omit = OMIT, bank_name: str | None | Omit = OMIT, iban: str | None | Omit = OMIT, bic: str | None | Omit = OMIT) -> Business:
        """Change fields of a business."""
        return self._client.call(Business, "PATCH", path_of("/v1/businesses/{}", id), body={"name": name, "legalName": legal_name, "description": description, "industry": industry, "timezone": timezone, "locale": locale, "currency": currency, "logoFileId": logo_file_id, "accentColor": accent_color, "paymentInstructions": payment_instructions, "bankName": bank_name, "iban": iban, "bic": bic})


class ContactsAddressesResource(Resource):
    """The operations ``contacts.addresses.*``."""

    def create(self, contact_id: str, *, line1: str, line2: str | None | Omit = OMIT, city: str | None | Omit = OMIT, state: str | None | Omit = OMIT, postal_code: str | None | Omit = OMIT, country: str | None | Omit = OMIT, label: str | None | Omit = OMIT, is_primary: bool | None | Omit = OMIT) -> Address:
        """Add an address to a contact. The first address is primary. A new primary address replaces the old one.
        """
        return self._client.call(Address, "POST", path_of("/v1/contacts/{}/addresses", contact_id), body={"line1": line1, "line2": line2, "city": city, "state": state, "postalCode": postal_code, "country": country, "label": label, "isPrimary": is_primary})

    def delete(self, contact_id: str, address_id: str) -> None:
        """Remove an address from a contact."""
        self._client.call(object, "DELETE", path_of("/v1/contacts/{}/addresses/{}", contact_id, address_id))

    def get(self, contact_id: str, address_id: str) -> Address:
        """Get an address of a contact."""
        return self._client.call(Address, "GET", path_of("/v1/contacts/{}/addresses/{}", contact_id, address_id))

    def list(self, contact_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[Address]:
        """List a contact's addresses, newest first."""
        return self._client.pages(Address, path_of("/v1/contacts/{}/addresses", contact_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)

    def update(self, contact_id: str, address_id: str, *, line1: str | Omit = OMIT, line2: str | None | Omit = OMIT, city: str | None | Omit = OMIT, state: str | None | Omit = OMIT, postal_code: str | None | Omit = OMIT, country: str | None | Omit = OMIT, label: str | None | Omit = OMIT, is_primary: bool | Omit = OMIT) -> Address:
        """Change an address of a contact."""
        return self._client.call(Address, "PATCH", path_of("/v1/contacts/{}/addresses/{}", contact_id, address_id), body={"line1": line1, "line2": line2, "city": city, "state": state, "postalCode": postal_code, "country": country, "label": label, "isPrimary": is_primary})


class ContactsEmailsResource(Resource):
    """The operations ``contacts.emails.*``."""

    def create(self, contact_id: str, *, email: str, label: str | None | Omit = OMIT, is_primary: bool | None | Omit = OMIT) -> Email:
        """Add an email address to a contact. The first address is primary. A new primary address replaces the old one.
        """
        return self._client.call(Email, "POST", path_of("/v1/contacts/{}/emails", contact_id), body={"email": email, "label": label, "isPrimary": is_primary})

    def delete(self, contact_id: str, email_id: str) -> None:
        """Remove an email address from a contact."""
        self._client.call(object, "DELETE", path_of("/v1/contacts/{}/emails/{}", contact_id, email_id))

    def get(self, contact_id: str, email_id: str) -> Email:
        """Get an email address of a contact."""
        return self._client.call(Email, "GET", path_of("/v1/contacts/{}/emails/{}", contact_id, email_id))

    def list(self, contact_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[Email]:
        """List a contact's email addresses, newest first."""
        return self._client.pages(Email, path_of("/v1/contacts/{}/emails", contact_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)

    def update(self, contact_id: str, email_id: str, *, email: str | Omit = OMIT, label: str | None | Omit = OMIT, is_primary: bool | Omit = OMIT) -> Email:
        """Change an email address of a contact."""
        return self._client.call(Email, "PATCH", path_of("/v1/contacts/{}/emails/{}", contact_id, email_id), body={"email": email, "label": label, "isPrimary": is_primary})


class ContactsNotesResource(Resource):
    """The operations ``contacts.notes.*``."""

    def create(self, contact_id: str, *, body: str, kind: Literal["note", "call"] | Omit = OMIT) -> ContactNote:
        """Add a note to a contact. Notes are for the house alone."""
        return self._client.call(ContactNote, "POST", path_of("/v1/contacts/{}/notes", contact_id), body={"body": body, "kind": kind})

    def delete(self, contact_id: str, note_id: str) -> None:
        """Remove a note from a contact."""
        self._client.call(object, "DELETE", path_of("/v1/contacts/{}/notes/{}", contact_id, note_id))

    def list(self, contact_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[ContactNote]:
        """List a contact's notes, newest first."""
        return self._client.pages(ContactNote, path_of("/v1/contacts/{}/notes", contact_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)

    def update(self, contact_id: str, note_id: str, *, body: str | Omit = OMIT, kind: Literal["note", "call"] | Omit = OMIT) -> ContactNote:
        """Change a note on a contact."""
        return self._client.call(ContactNote, "PATCH", path_of("/v1/contacts/{}/notes/{}", contact_id, note_id), body={"body": body, "kind": kind})


class ContactsPhoneNumbersResource(Resource):
    """The operations ``contacts.phone_numbers.*``."""

    def create(self, contact_id: str, *, phone_number: str, country_code: str | None | Omit = OMIT, national_number: str | None | Omit = OMIT, label: str | None | Omit = OMIT) -> PhoneNumber:
        """Add a phone number to a contact. A number without + needs countryCode. Numbers are stored as E.164."""
        return self._client.call(PhoneNumber, "POST", path_of("/v1/contacts/{}/phone-numbers", contact_id), body={"phoneNumber": phone_number, "countryCode": country_code, "nationalNumber": national_number, "label": label})

    def delete(self, contact_id: str, phone_number_id: str) -> None:
        """Remove a phone number from a contact."""
        self._client.call(object, "DELETE", path_of("/v1/contacts/{}/phone-numbers/{}", contact_id, phone_number_id))

    def get(self, contact_id: str, phone_number_id: str) -> PhoneNumber:
        """Get a phone number of a contact."""
        return self._client.call(PhoneNumber, "GET", path_of("/v1/contacts/{}/phone-numbers/{}", contact_id, phone_number_id))

    def list(self, contact_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[PhoneNumber]:
        """List a contact's phone numbers, newest first."""
        return self._client.pages(PhoneNumber, path_of("/v1/contacts/{}/phone-numbers", contact_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)

    def update(self, contact_id: str, phone_number_id: str, *, phone_number: str | Omit = OMIT, country_code: str | Omit = OMIT, national_number: str | Omit = OMIT, label: str | None | Omit = OMIT) -> PhoneNumber:
        """Change a phone number of a contact."""
        return self._client.call(PhoneNumber, "PATCH", path_of("/v1/contacts/{}/phone-numbers/{}", contact_id, phone_number_id), body={"phoneNumber": phone_number, "countryCode": country_code, "nationalNumber": national_number, "label": label})


class ContactsPropertiesResource(Resource):
    """The operations ``contacts.properties.*``."""

    def create(self, contact_id: str, *, definition_id: str, value: str | float | bool | Sequence[str], status: Literal["suggested", "confirmed"] | None | Omit = OMIT, sources: Sequence[PropertySourceInput] | Omit = OMIT) -> PropertyValue:
        """Give a contact a property value. A value from an agent is a suggestion unless it says otherwise. A confirmed
        value replaces the one confirmed before. A number may be sent as a string; an array holds strings.
        """
        return self._client.call(PropertyValue, "POST", path_of("/v1/contacts/{}/properties", contact_id), body={"definitionId": definition_id, "value": value, "status": status, "sources": wire(sources)})

    def delete(self, contact_id: str, property_id: str) -> None:
        """Delete a property value of a contact."""
        self._client.call(object, "DELETE", path_of("/v1/contacts/{}/properties/{}", contact_id, property_id))

    def get(self, contact_id: str, property_id: str) -> PropertyValue:
        """Get a property value of a contact."""
        return self._client.call(PropertyValue, "GET", path_of("/v1/contacts/{}/properties/{}", contact_id, property_id))

    def list(self, contact_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, status: Sequence[Literal["suggested", "confirmed", "dismissed"]] | None = None, definition_id: str | None = None) -> Pages[PropertyValue]:
        """List the property values of a contact, newest first."""
        return self._client.pages(PropertyValue, path_of("/v1/contacts/{}/properties", contact_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "status": status, "definitionId": definition_id}, False)

    def update(self, contact_id: str, property_id: str, *, status: Literal["suggested", "confirmed", "dismissed"] | Omit = OMIT, value: str | float | bool | Sequence[str] | Omit = OMIT) -> PropertyValue:
        """Confirm, dismiss, restore or replace a property value of a contact. Use status to confirm a suggestion,
        dismiss a value or restore a dismissed one as a suggestion. Use value to replace a confirmed value, which
        gets a new id. With both, status comes first, and both happen or neither.
        """
        return self._client.call(PropertyValue, "PATCH", path_of("/v1/contacts/{}/properties/{}", contact_id, property_id), body={"status": status, "value": value})


class ContactsResource(Resource):
    """The operations ``contacts.*``."""

    @cached_property
    def addresses(self) -> ContactsAddressesResource:
        return ContactsAddressesResource(self._client)

    @cached_property
    def emails(self) -> ContactsEmailsResource:
        return ContactsEmailsResource(self._client)

    @cached_property
    def notes(self) -> ContactsNotesResource:
        return ContactsNotesResource(self._client)

    @cached_property
    def phone_numbers(self) -> ContactsPhoneNumbersResource:
        return ContactsPhoneNumbersResource(self._client)

    @cached_property
    def properties(self) -> ContactsPropertiesResource:
        return ContactsPropertiesResource(self._client)

    def batch(self, *, rows: Sequence[ContactRowInput], mode: Literal["atomic", "each"] | Omit = OMIT) -> List[BatchResult[Contact]]:
        """Create, change and delete up to 500 contacts at once. A row with an id changes, {id, delete: true} deletes,
        one without an id creates. The answer has a status with data or error for each row, in order. 25 rows count
        as one request.
        """
        return self._client.call(list[BatchResult[Contact]], "POST", "/v1/contacts/batch", body={"mode": mode, "rows": wire(rows)})

    def create(self, *, first_name: str | None | Omit = OMIT, middle_name: str | None | Omit = OMIT, last_name: str | None | Omit = OMIT, prefix: str | None | Omit = OMIT, suffix: str | None | Omit = OMIT, organization_name: str | None | Omit = OMIT, job_title: str | None | Omit = OMIT, birthday: _dt.date | None | Omit = OMIT, notes: str | None | Omit = OMIT, external_id: str | None | Omit = OMIT, tags: Sequence[str] | Omit = OMIT, emails: Sequence[EmailFields] | Omit = OMIT, phone_numbers: Sequence[PhoneNumberFields] | Omit = OMIT, addresses: Sequence[AddressFields] | Omit = OMIT) -> Contact:
        """Create a contact, with its emails, phone numbers and addresses. At least one of firstName, lastName and
        organizationName is needed. A contact has at most 100 emails, 100 phone numbers and 100 addresses.
        """
        return self._client.call(Contact, "POST", "/v1/contacts", body={"firstName": first_name, "middleName": middle_name, "lastName": last_name, "prefix": prefix, "suffix": suffix, "organizationName": organization_name, "jobTitle": job_title, "birthday": wire(birthday), "notes": notes, "externalId": external_id, "tags": wire(tags), "emails": wire(emails), "phoneNumbers": wire(phone_numbers), "addresses": wire(addresses)})

    def delete(self, id: str) -> None:
        """Delete a contact."""
        self._client.call(object, "DELETE", path_of("/v1/contacts/{}", id))

    def duplicates(self, *, limit: int | None = None, offset: int | None = None, cursor: str | None = None, reason: Sequence[Literal["email", "phone", "name"]] | None = None, sort_order: Literal["asc"] | None = None) -> Pages[Duplicate]:
        """List groups of contacts that share an email, a phone number or a full name. One call looks through a part of
        the contacts, so a page may be short or empty and still have a successor: go on with nextCursor until it is
        null. Merge what is the same with contacts.merge.
        """
        return self._client.pages(Duplicate, "/v1/contacts/duplicates", {"limit": limit, "offset": offset, "cursor": cursor, "reason": reason, "sortOrder": sort_order}, True)

    def export(self, *, sort_order: Literal["asc", "desc"] | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, query: str | None = None, email: str | None = None, phone: str | None = None, external_id: str | None = None, organization_name: str | None = None, tag: Sequence[str] | None = None, last_message_after: str | None = None, last_message_before: str | None = None, last_inbound_after: str | None = None, last_inbound_before: str | None = None, last_outbound_after: str | None = None, last_outbound_before: str | None = None, property_key: str | None = None, property_value: str | None = None) -> Download:
        """Export contacts as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that
        a spreadsheet would take for a formula begins with an apostrophe.
        """
        return self._client.download("GET", "/v1/exports/contacts.csv", query={"sortOrder": sort_order, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "query": query, "email": email, "phone": phone, "externalId": external_id, "organizationName": organization_name, "tag": tag, "lastMessageAfter": last_message_after, "lastMessageBefore": last_message_before, "lastInboundAfter": last_inbound_after, "lastInboundBefore": last_inbound_before, "lastOutboundAfter": last_outbound_after, "lastOutboundBefore": last_outbound_before, "propertyKey": property_key, "propertyValue": property_value})

    def get(self, id: str, *, include: Sequence[Literal["properties"]] | None = None) -> Contact:
        """Get a contact."""
        return self._client.call(Contact, "GET", path_of("/v1/contacts/{}", id), query={"include": include})

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None, query: str | None = None, email: str | None = None, phone: str | None = None, external_id: str | None = None, organization_name: str | None = None, tag: Sequence[str] | None = None, last_message_after: str | None = None, last_message_before: str | None = None, last_inbound_after: str | None = None, last_inbound_before: str | None = None, last_outbound_after: str | None = None, last_outbound_before: str | None = None, include: Sequence[Literal["properties"]] | None = None, property_key: str | None = None, property_value: str | None = None) -> Pages[Contact]:
        """List contacts, newest first."""
        return self._client.pages(Contact, "/v1/contacts", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "query": query, "email": email, "phone": phone, "externalId": external_id, "organizationName": organization_name, "tag": tag, "lastMessageAfter": last_message_after, "lastMessageBefore": last_message_before, "lastInboundAfter": last_inbound_after, "lastInboundBefore": last_inbound_before, "lastOutboundAfter": last_outbound_after, "lastOutboundBefore": last_outbound_before, "include": include, "propertyKey": property_key, "propertyValue": property_value}, True)

    def merge(self, id: str, *, contact_id: str, dry_run: bool | Omit = OMIT, take: Sequence[str] | Omit = OMIT) -> Merge:
        """Merge another contact into this one, and delete the other. The contact keeps its own fields, but for those
        that take names, and takes those that it lacks; notes are joined. Emails, numbers, addresses, tags,
        properties, messages, tasks, customers and opt-ins of the other follow. Where both have a confirmed
        property, the other's becomes a suggestion. With dryRun it only answers what would move.
        """
        return self._client.call(Merge, "POST", path_of("/v1/contacts/{}/merge", id), body={"contactId": contact_id, "dryRun": dry_run, "take": wire(take)})

    def put_by_email(self, address: str, *, first_name: str | None | Omit = OMIT, middle_name: str | None | Omit = OMIT, last_name: str | None | Omit = OMIT, prefix: str | None | Omit = OMIT, suffix: str | None | Omit = OMIT, organization_name: str | None | Omit = OMIT, job_title: str | None | Omit = OMIT, birthday: _dt.date | None | Omit = OMIT, notes: str | None | Omit = OMIT, external_id: str | None | Omit = OMIT, tags: Sequence[str] | Omit = OMIT) -> Contact:
        """Create or change the contact with an email address. Changes the fields that are sent, like PATCH, and keeps
        the rest. Without a contact that has the address it creates one, which needs a name, and answers 201.
        Several at once create one contact.
        """
        return self._client.call(Contact, "PUT", path_of("/v1/contacts/by-email/{}", address), body={"firstName": first_name, "middleName": middle_name, "lastName": last_name, "prefix": prefix, "suffix": suffix, "organizationName": organization_name, "jobTitle": job_title, "birthday": wire(birthday), "notes": notes, "externalId": external_id, "tags": wire(tags)})

    def restore(self, id: str) -> Contact:
        """Restore a deleted contact. Works until deleted rows are purged. References to it that the deletion cleared
        come back too.
        """
        return self._client.call(Contact, "POST", path_of("/v1/contacts/{}/restore", id))

    def unmerge(self, id: str, *, contact_id: str) -> Unmerge:
        """Take back a merge: restore the other contact, and what was moved goes back to it. Fields that the contact
        took over get their former values. What somebody changed since the merge stays as it is and is named in
        kept. Works as long as deleted contacts and events are kept.
        """
        return self._client.call(Unmerge, "POST", path_of("/v1/contacts/{}/unmerge", id), body={"contactId": contact_id})

    def update(self, id: str, *, first_name: str | None | Omit = OMIT, middle_name: str | None | Omit = OMIT, last_name: str | None | Omit = OMIT, prefix: str | None | Omit = OMIT, suffix: str | None | Omit = OMIT, organization_name: str | None | Omit = OMIT, job_title: str | None | Omit = OMIT, birthday: _dt.date | None | Omit = OMIT, notes: str | None | Omit = OMIT, external_id: str | None | Omit = OMIT, tags: Sequence[str] | Omit = OMIT) -> Contact:
        """Change fields of a contact."""
        return self._client.call(Contact, "PATCH", path_of("/v1/contacts/{}", id), body={"firstName": first_name, "middleName": middle_name, "lastName": last_name, "prefix": prefix, "suffix": suffix, "organizationName": organization_name, "jobTitle": job_title, "birthday": wire(birthday), "notes": notes, "externalId": external_id, "tags": wire(tags)})


class CustomersBalanceResource(Resource):
    """The operations ``customers.balance.*``."""

    def get(self, customer_id: str) -> Balance:
        """Get what a customer owes, by currency. The sum of the customer's transactions. A negative balance is the
        customer's credit.
        """
        return self._client.call(Balance, "GET", path_of("/v1/customers/{}/balance", customer_id))


class CustomersPropertiesResource(Resource):
    """The operations ``customers.properties.*``."""

    def create(self, customer_id: str, *, definition_id: str, value: str | float | bool | Sequence[str], status: Literal["suggested", "confirmed"] | None | Omit = OMIT, sources: Sequence[PropertySourceInput] | Omit = OMIT) -> PropertyValue:
        """Give a customer a property value. A value from an agent is a suggestion unless it says otherwise. A
        confirmed value replaces the one confirmed before. A number may be sent as a string; an array holds strings.
        """
        return self._client.call(PropertyValue, "POST", path_of("/v1/customers/{}/properties", customer_id), body={"definitionId": definition_id, "value": value, "status": status, "sources": wire(sources)})

    def delete(self, customer_id: str, property_id: str) -> None:
        """Delete a property value of a customer."""
        self._client.call(object, "DELETE", path_of("/v1/customers/{}/properties/{}", customer_id, property_id))

    def get(self, customer_id: str, property_id: str) -> PropertyValue:
        """Get a property value of a customer."""
        return self._client.call(PropertyValue, "GET", path_of("/v1/customers/{}/properties/{}", customer_id, property_id))

    def list(self, customer_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, status: Sequence[Literal["suggested", "confirmed", "dismissed"]] | None = None, definition_id: str | None = None) -> Pages[PropertyValue]:
        """List the property values of a customer, newest first."""
        return self._client.pages(PropertyValue, path_of("/v1/customers/{}/properties", customer_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "status": status, "definitionId": definition_id}, False)

    def update(self, customer_id: str, property_id: str, *, status: Literal["suggested", "confirmed", "dismissed"] | Omit = OMIT, value: str | float | bool | Sequence[str] | Omit = OMIT) -> PropertyValue:
        """Confirm, dismiss, restore or replace a property value of a customer. Use status to confirm a suggestion,
        dismiss a value or restore a dismissed one as a suggestion. Use value to replace a confirmed value, which
        gets a new id. With both, status comes first, and both happen or neither.
        """
        return self._client.call(PropertyValue, "PATCH", path_of("/v1/customers/{}/properties/{}", customer_id, property_id), body={"status": status, "value": value})


class CustomersTransactionsResource(Resource):
    """The operations ``customers.transactions.*``."""

    def create(self, customer_id: str, *, type: Literal["credit", "charge"], amount_cents: int, currency: str | None | Omit = OMIT, occurred_at: _dt.datetime | None | Omit = OMIT, description: str | None | Omit = OMIT) -> Transaction:
        """Credit or charge a customer outside any invoice. Issued invoices and payments write their own transactions.
        """
        return self._client.call(Transaction, "POST", path_of("/v1/customers/{}/transactions", customer_id), body={"type": type, "amountCents": amount_cents, "currency": currency, "occurredAt": wire(occurred_at), "description": description})

    def get(self, customer_id: str, transaction_id: str) -> Transaction:
        """Get a transaction of a customer."""
        return self._client.call(Transaction, "GET", path_of("/v1/customers/{}/transactions/{}", customer_id, transaction_id))

    def list(self, customer_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, type: Sequence[Literal["invoice", "payment", "credit", "charge"]] | None = None, invoice_id: str | None = None) -> Pages[Transaction]:
        """List a customer's transactions, newest first."""
        return self._client.pages(Transaction, path_of("/v1/customers/{}/transactions", customer_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "type": type, "invoiceId": invoice_id}, False)


class CustomersResource(Resource):
    """The operations ``customers.*``."""

    @cached_property
    def balance(self) -> CustomersBalanceResource:
        return CustomersBalanceResource(self._client)

    @cached_property
    def properties(self) -> CustomersPropertiesResource:
        return CustomersPropertiesResource(self._client)

    @cached_property
    def transactions(self) -> CustomersTransactionsResource:
        return CustomersTransactionsResource(self._client)

    def batch(self, *, rows: Sequence[CustomerRowInput], mode: Literal["atomic", "each"] | Omit = OMIT) -> List[BatchResult[Customer]]:
        """Create, change and delete up to 500 customers at once. A row with an id changes, {id, delete: true} deletes,
        one without an id creates. The answer has a status with data or error for each row, in order. 25 rows count
        as one request.
        """
        return self._client.call(list[BatchResult[Customer]], "POST", "/v1/customers/batch", body={"mode": mode, "rows": wire(rows)})

    def create(self, *, name: str, business_id: str | None | Omit = OMIT, contact_id: str | None | Omit = OMIT, type: Literal["individual", "business"] | Omit = OMIT, email: str | None | Omit = OMIT, phone: str | None | Omit = OMIT, notes: str | None | Omit = OMIT, status: Literal["prospect", "active", "inactive"] | Omit = OMIT, customer_since: _dt.datetime | None | Omit = OMIT, tags: Sequence[str] | Omit = OMIT, external_id: str | None | Omit = OMIT) -> Customer:
        """Create a customer. Without businessId, the customer belongs to the caller's business."""
        return self._client.call(Customer, "POST", "/v1/customers", body={"businessId": business_id, "contactId": contact_id, "type": type, "name": name, "email": email, "phone": phone, "notes": notes, "status": status, "customerSince": wire(customer_since), "tags": wire(tags), "externalId": external_id})

    def delete(self, id: str) -> None:
        """Delete a customer."""
        self._client.call(object, "DELETE", path_of("/v1/customers/{}", id))

    def export(self, *, sort_order: Literal["asc", "desc"] | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, query: str | None = None, status: Sequence[Literal["prospect", "active", "inactive"]] | None = None, type: Sequence[Literal["individual", "business"]] | None = None, business_id: str | None = None, contact_id: str | None = None, external_id: str | None = None, tag: Sequence[str] | None = None, property_key: str | None = None, property_value: str | None = None) -> Download:
        """Export customers as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that
        a spreadsheet would take for a formula begins with an apostrophe.
        """
        return self._client.download("GET", "/v1/exports/customers.csv", query={"sortOrder": sort_order, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "query": query, "status": status, "type": type, "businessId": business_id, "contactId": contact_id, "externalId": external_id, "tag": tag, "propertyKey": property_key, "propertyValue": property_value})

    def get(self, id: str, *, include: Sequence[Literal["properties"]] | None = None) -> Customer:
        """Get a customer."""
        return self._client.call(Customer, "GET", path_of("/v1/customers/{}", id), query={"include": include})

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None, query: str | None = None, status: Sequence[Literal["prospect", "active", "inactive"]] | None = None, type: Sequence[Literal["individual", "business"]] | None = None, business_id: str | None = None, contact_id: str | None = None, external_id: str | None = None, tag: Sequence[str] | None = None, include: Sequence[Literal["properties"]] | None = None, property_key: str | None = None, property_value: str | None = None) -> Pages[Customer]:
        """List customers, newest first."""
        return self._client.pages(Customer, "/v1/customers", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "query": query, "status": status, "type": type, "businessId": business_id, "contactId": contact_id, "externalId": external_id, "tag": tag, "include": include, "propertyKey": property_key, "propertyValue": property_value}, True)

    def put_by_external_id(self, external_id: str, *, business_id: str | Omit = OMIT, contact_id: str | None | Omit = OMIT, type: Literal["individual", "business"] | Omit = OMIT, name: str | Omit = OMIT, email: str | None | Omit = OMIT, phone: str | None | Omit = OMIT, notes: str | None | Omit = OMIT, status: Literal["prospect", "active", "inactive"] | Omit = OMIT, customer_since: _dt.datetime | None | Omit = OMIT, tags: Sequence[str] | Omit = OMIT) -> Customer:
        """Create or change the customer that another system knows by an id. Changes the fields that are sent, like
        PATCH, and keeps the rest. Without a customer that has the externalId it creates one, which needs a name,
        and answers 201. Several at once create one customer.
        """
        return self._client.call(Customer, "PUT", path_of("/v1/customers/by-external-id/{}", external_id), body={"businessId": business_id, "contactId": contact_id, "type": type, "name": name, "email": email, "phone": phone, "notes": notes, "status": status, "customerSince": wire(customer_since), "tags": wire(tags)})

    def restore(self, id: str) -> Customer:
        """Restore a deleted customer. Works until deleted rows are purged. References to it that the deletion cleared
        come back too.
        """
        return self._client.call(Customer, "POST", path_of("/v1/customers/{}/restore", id))

    def statement(self, id: str, *, from_: _dt.date | None = None, to: _dt.date | None = None) -> Download:
        """Get a customer's statement as a PDF. It lists the customer's transactions of a time, with the balance
        before, after each and at the end, by currency. The first and the last day are days of the business's time
        zone.
        """
        return self._client.download("GET", path_of("/v1/customers/{}/statement.pdf", id), query={"from": from_, "to": to})

    def update(self, id: str, *, business_id: str | Omit = OMIT, contact_id: str | None | Omit = OMIT, type: Literal["individual", "business"] | Omit = OMIT, name: str | Omit = OMIT, email: str | None | Omit = OMIT, phone: str | None | Omit = OMIT, notes: str | None | Omit = OMIT, status: Literal["prospect", "active", "inactive"] | Omit = OMIT, customer_since: _dt.datetime | None | Omit = OMIT, tags: Sequence[str] | Omit = OMIT, external_id: str | None | Omit = OMIT) -> Customer:
        """Change fields of a customer."""
        return self._client.call(Customer, "PATCH", path_of("/v1/customers/{}", id), body={"businessId": business_id, "contactId": contact_id, "type": type, "name": name, "email": email, "phone": phone, "notes": notes, "status": status, "customerSince": wire(customer_since), "tags": wire(tags), "externalId": external_id})


class DomainContactsResource(Resource):
    """The operations ``domain_contacts.*``."""

    def create(self, *, first_name: str, last_name: str, address1: str, city: str, state_province: str, postal_code: str, country: str, email: str, phone: str, label: str | None | Omit = OMIT, organization_name: str | None | Omit = OMIT, job_title: str | None | Omit = OMIT, address2: str | None | Omit = OMIT) -> DomainContact:
        """Save a registrant for later registrations."""
        return self._client.call(DomainContact, "POST", "/v1/domain-contacts", body={"label": label, "firstName": first_name, "lastName": last_name, "organizationName": organization_name, "jobTitle": job_title, "address1": address1, "address2": address2, "city": city, "stateProvince": state_province, "postalCode": postal_code, "country": country, "email": email, "phone": phone})

    def delete(self, id: str) -> None:
        """Delete a registrant that no domain uses."""
        self._client.call(object, "DELETE", path_of("/v1/domain-contacts/{}", id))

    def get(self, id: str) -> DomainContact:
        """Get a saved registrant."""
        return self._client.call(DomainContact, "GET", path_of("/v1/domain-contacts/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt"] | None = None) -> Pages[DomainContact]:
        """List saved registrants, newest first."""
        return self._client.pages(DomainContact, "/v1/domain-contacts", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by}, True)

    def restore(self, id: str) -> DomainContact:
        """Restore a deleted domain contact. Works until deleted rows are purged. References to it that the deletion
        cleared come back too.
        """
        return self._client.call(DomainContact, "POST", path_of("/v1/domain-contacts/{}/restore", id))

    def update(self, id: str, *, label: str | None | Omit = OMIT, first_name: str | Omit = OMIT, last_name: str | Omit = OMIT, organization_name: str | None | Omit = OMIT, job_title: str | None | Omit = OMIT, address1: str | Omit = OMIT, address2: str | None | Omit = OMIT, city: str | Omit = OMIT, state_province: str | Omit = OMIT, postal_code: str | Omit = OMIT, country: str | Omit = OMIT, email: str | Omit = OMIT, phone: str | Omit = OMIT) -> DomainContact:
        """Change a registrant, at the registrar too. A new name, organization or email makes the registrar verify the
        registrant of every domain that uses the contact again.
        """
        return self._client.call(DomainContact, "PATCH", path_of("/v1/domain-contacts/{}", id), body={"label": label, "firstName": first_name, "lastName": last_name, "organizationName": organization_name, "jobTitle": job_title, "address1": address1, "address2": address2, "city": city, "stateProvince": state_province, "postalCode": postal_code, "country": country, "email": email, "phone": phone})


class DomainsDnsRecordsResource(Resource):
    """The operations ``domains.dns_records.*``."""

    def create(self, domain_id: str, *, type: Literal["A", "AAAA", "CAA", "CNAME", "MX", "NS", "SRV", "TXT"], content: str, name: str | None | Omit = OMIT, ttl: int | Omit = OMIT, priority: int | None | Omit = OMIT) -> DNSRecord:
        """Add a DNS record to a domain. The content must match the type. MX and SRV records need a priority. A CNAME
        cannot be beside other records of its name, nor at the apex. A name has one SPF record.
        """
        return self._client.call(DNSRecord, "POST", path_of("/v1/domains/{}/dns-records", domain_id), body={"type": type, "name": name, "content": content, "ttl": ttl, "priority": priority})

    def delete(self, domain_id: str, record_id: str) -> None:
        """Remove a DNS record."""
        self._client.call(object, "DELETE", path_of("/v1/domains/{}/dns-records/{}", domain_id, record_id))

    def get(self, domain_id: str, record_id: str) -> DNSRecord:
        """Get a DNS record."""
        return self._client.call(DNSRecord, "GET", path_of("/v1/domains/{}/dns-records/{}", domain_id, record_id))

    def list(self, domain_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, type: Sequence[Literal["A", "AAAA", "CAA", "CNAME", "MX", "NS", "SOA", "SRV", "TXT"]] | None = None, name: str | None = None) -> Pages[DNSRecord]:
        """List the DNS records of a domain, newest first. Includes the built-in SOA and NS records at the apex.
        """
        return self._client.pages(DNSRecord, path_of("/v1/domains/{}/dns-records", domain_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "type": type, "name": name}, False)

    def patch(self, domain_id: str, record_id: str, *, name: str | Omit = OMIT, content: str | Omit = OMIT, ttl: int | Omit = OMIT, priority: int | Omit = OMIT) -> DNSRecord:
        """Change fields of a DNS record. The SPF record of hosted email takes mechanisms too, as long as it keeps
        ours; nothing else of hosted email can be changed.
        """
        return self._client.call(DNSRecord, "PATCH", path_of("/v1/domains/{}/dns-records/{}", domain_id, record_id), body={"name": name, "content": content, "ttl": ttl, "priority": priority})

    def update(self, domain_id: str, record_id: str, *, type: Literal["A", "AAAA", "CAA", "CNAME", "MX", "NS", "SRV", "TXT"], content: str, name: str | None | Omit = OMIT, ttl: int | Omit = OMIT, priority: int | None | Omit = OMIT) -> DNSRecord:
        """Replace a DNS record. The content must match the type. MX and SRV records need a priority. A CNAME cannot be
        beside other records of its name, nor at the apex. A name has one SPF record. The record keeps its id.
        """
        return self._client.call(DNSRecord, "PUT", path_of("/v1/domains/{}/dns-records/{}", domain_id, record_id), body={"type": type, "name": name, "content": content, "ttl": ttl, "priority": priority})


class DomainsEmailResource(Resource):
    """The operations ``domains.email.*``."""

    def disable(self, domain_id: str) -> None:
        """Turn hosted email off for a domain. Removes the records that turning it on wrote. The signing keys are kept
        for the next time.
        """
        self._client.call(object, "DELETE", path_of("/v1/domains/{}/email", domain_id))

    def enable(self, domain_id: str, *, mode: Literal["full", "sending"] | None | Omit = OMIT) -> Domain:
        """Turn hosted email on for a domain. Writes the MX, SPF, DKIM and DMARC records of the domain and its
        subdomains into its zone; MX only where the purpose is general. A domain that was registered here has them
        from the start. The zone of another must be delegated to our name servers, or its records copied from the
        answer to GET. Your own SPF and DMARC records stay, and ours are not written beside them. With the mode
        sending there is no MX: mail is received where it is today. Calling it again adds what is missing, and
        changes the mode if it names another.
        """
        return self._client.call(Domain, "POST", path_of("/v1/domains/{}/email", domain_id), body={"mode": mode})

    def get(self, domain_id: str) -> EmailSetup:
        """Get the records of hosted email, and what the DNS has of them. Looks every record of the domain or subdomain
        up in the DNS. Where the zone is not delegated to our name servers, these are the records to copy to where
        it is. Without email there are none.
        """
        return self._client.call(EmailSetup, "GET", path_of("/v1/domains/{}/email", domain_id))


class DomainsRegistrationContactResource(Resource):
    """The operations ``domains.registration.contact.*``."""

    def get(self, domain_id: str) -> DomainContact:
        """Get the registrant of a domain."""
        return self._client.call(DomainContact, "GET", path_of("/v1/domains/{}/registration/contact", domain_id))

    def update(self, domain_id: str, *, label: str | None | Omit = OMIT, first_name: str | Omit = OMIT, last_name: str | Omit = OMIT, organization_name: str | None | Omit = OMIT, job_title: str | None | Omit = OMIT, address1: str | Omit = OMIT, address2: str | None | Omit = OMIT, city: str | Omit = OMIT, state_province: str | Omit = OMIT, postal_code: str | Omit = OMIT, country: str | Omit = OMIT, email: str | Omit = OMIT, phone: str | Omit = OMIT) -> DomainContact:
        """Change the registrant of a domain, at the registrar too. Domains that share the contact change with it. A
        new name, organization or email makes the registrar verify the registrant again.
        """
        return self._client.call(DomainContact, "PATCH", path_of("/v1/domains/{}/registration/contact", domain_id), body={"label": label, "firstName": first_name, "lastName": last_name, "organizationName": organization_name, "jobTitle": job_title, "address1": address1, "address2": address2, "city": city, "stateProvince": state_province, "postalCode": postal_code, "country": country, "email": email, "phone": phone})


class DomainsRegistrationResource(Resource):
    """The operations ``domains.registration.*``."""

    @cached_property
    def contact(self) -> DomainsRegistrationContactResource:
        return DomainsRegistrationContactResource(self._client)

    def cancel_transfer(self, domain_id: str) -> None:
        """Withdraw a transfer to another registrar."""
        self._client.call(object, "DELETE", path_of("/v1/domains/{}/registration/transfer", domain_id))

    def get(self, domain_id: str) -> Registration:
        """Get the registration of a domain."""
        return self._client.call(Registration, "GET", path_of("/v1/domains/{}/registration", domain_id))

    def transfer(self, domain_id: str) -> TransferStarted:
        """Ask to leave for another registrar. The answer shows, once, the code that the other registrar asks for. The
        transfer ends when the domain has left.
        """
        return self._client.call(TransferStarted, "POST", path_of("/v1/domains/{}/registration/transfer", domain_id))

    def update(self, domain_id: str, *, transfer_lock: bool | Omit = OMIT, auto_renew: bool | Omit = OMIT) -> Registration:
        """Turn the transfer lock or the automatic renewal on or off."""
        return self._client.call(Registration, "PATCH", path_of("/v1/domains/{}/registration", domain_id), body={"transferLock": transfer_lock, "autoRenew": auto_renew})


class DomainsSubdomainsResource(Resource):
    """The operations ``domains.subdomains.*``."""

    def create(self, domain_id: str, *, name: str, purpose: Literal["general", "transactional", "marketing"] | Omit = OMIT) -> Domain:
        """Add a subdomain. It is active at once: the domain above it is verified already. Where that has hosted email,
        the subdomain's records follow in a moment.
        """
        return self._client.call(Domain, "POST", path_of("/v1/domains/{}/subdomains", domain_id), body={"name": name, "purpose": purpose})

    def delete(self, domain_id: str, subdomain_id: str) -> None:
        """Remove a subdomain."""
        self._client.call(object, "DELETE", path_of("/v1/domains/{}/subdomains/{}", domain_id, subdomain_id))

    def get(self, domain_id: str, subdomain_id: str) -> Domain:
        """Get a subdomain."""
        return self._client.call(Domain, "GET", path_of("/v1/domains/{}/subdomains/{}", domain_id, subdomain_id))

    def list(self, domain_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[Domain]:
        """List a domain's subdomains, newest first."""
        return self._client.pages(Domain, path_of("/v1/domains/{}/subdomains", domain_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)


class DomainsResource(Resource):
    """The operations ``domains.*``."""

    @cached_property
    def dns_records(self) -> DomainsDnsRecordsResource:
        return DomainsDnsRecordsResource(self._client)

    @cached_property
    def email(self) -> DomainsEmailResource:
        return DomainsEmailResource(self._client)

    @cached_property
    def registration(self) -> DomainsRegistrationResource:
        return DomainsRegistrationResource(self._client)

    @cached_property
    def subdomains(self) -> DomainsSubdomainsResource:
        return DomainsSubdomainsResource(self._client)

    def create(self, *, name: str, purpose: Literal["general", "transactional", "marketing"] | Omit = OMIT) -> Domain:
        """Add a domain that is registered elsewhere. The answer names the TXT record to publish; then call verify.
        That call also finds out whether another organization has the name.
        """
        return self._client.call(Domain, "POST", "/v1/domains", body={"name": name, "purpose": purpose})

    def delete(self, id: str) -> None:
        """Delete a domain. A registered domain must have expired or left, and have no records, renewal, transfer or
        subdomains.
        """
        self._client.call(object, "DELETE", path_of("/v1/domains/{}", id))

    def get(self, id: str) -> Domain:
        """Get a domain or subdomain."""
        return self._client.call(Domain, "GET", path_of("/v1/domains/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None, name: str | None = None, status: Sequence[Literal["pending_verification", "active", "expired", "transferred"]] | None = None, source: Sequence[Literal["registered", "external"]] | None = None, query: str | None = None) -> Pages[Domain]:
        """List domains, newest first. Subdomains are listed under their domain."""
        return self._client.pages(Domain, "/v1/domains", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "name": name, "status": status, "source": source, "query": query}, True)

    def quote(self, *, domain: str, period_years: int | None = None) -> Quote:
        """Quote the price of a registration."""
        return self._client.call(Quote, "GET", "/v1/domain-registrations/quote", query={"domain": domain, "periodYears": period_years})

    def register(self, *, domain: str, max_amount_cents: int, period_years: int | Omit = OMIT, auto_renew: bool | Omit = OMIT, contact: RegistrantInput | None | Omit = OMIT, contact_id: str | None | Omit = OMIT) -> Accepted:
        """Register a domain and charge the default card. The registration continues after the answer; follow it at
        /v1/operations/{operationId}. Availability and price are checked again before the charge. WHOIS privacy is
        always on, and the transfer lock is turned on. A registration that fails is refunded.
        """
        return self._client.call(Accepted, "POST", "/v1/domain-registrations", body={"domain": domain, "periodYears": period_years, "maxAmountCents": max_amount_cents, "autoRenew": auto_renew, "contact": wire(contact), "contactId": contact_id})

    def renew(self, id: str, *, max_amount_cents: int, period_years: int | Omit = OMIT) -> Accepted:
        """Renew a registered domain and charge the default card. The renewal continues after the answer; follow it at
        /v1/operations/{operationId}.
        """
        return self._client.call(Accepted, "POST", path_of("/v1/domains/{}/registration/renew", id), body={"periodYears": period_years, "maxAmountCents": max_amount_cents})

    def renew_quote(self, id: str, *, period_years: int | None = None) -> RenewalQuote:
        """Quote the price of a renewal."""
        return self._client.call(RenewalQuote, "GET", path_of("/v1/domains/{}/registration/renew/quote", id), query={"periodYears": period_years})

    def search(self, *, query: str) -> Search:
        """Search for names that can be registered. A name with an ending is checked and offered under the other
        endings; a single label is checked under all.
        """
        return self._client.call(Search, "GET", "/v1/domain-registrations/search", query={"query": query})

    def verify(self, id: str) -> Domain:
        """Look for the TXT record that proves a domain. Looks the record up in the DNS. A domain that is active
        already stays so.
        """
        return self._client.call(Domain, "POST", path_of("/v1/domains/{}/verify", id))


class EmailOptInsResource(Resource):
    """The operations ``email_opt_ins.*``."""

    def batch(self, *, rows: Sequence[OptInRowInput], mode: Literal["atomic", "each"] | Omit = OMIT) -> List[BatchResult[EmailOptIn]]:
        """Create, change and delete up to 500 email opt ins at once. A row with an id changes, {id, delete: true}
        deletes, one without an id creates. The answer has a status with data or error for each row, in order. 25
        rows count as one request.
        """
        return self._client.call(list[BatchResult[EmailOptIn]], "POST", "/v1/email-opt-ins/batch", body={"mode": mode, "rows": wire(rows)})

    def create(self, *, email: str, contact_id: str | None | Omit = OMIT, status: Literal["pending", "opted_in", "opted_out"] | Omit = OMIT, source: str | None | Omit = OMIT, opted_in_at: _dt.datetime | None | Omit = OMIT, opted_out_at: _dt.datetime | None | Omit = OMIT) -> EmailOptIn:
        """Record whether an address wants marketing mail. For an import, optedInAt and optedOutAt say when it
        happened; otherwise it is now. Addresses are compared ignoring case.
        """
        return self._client.call(EmailOptIn, "POST", "/v1/email-opt-ins", body={"email": email, "contactId": contact_id, "status": status, "source": source, "optedInAt": wire(opted_in_at), "optedOutAt": wire(opted_out_at)})

    def delete(self, id: str) -> None:
        """Delete an email opt-in; the address no longer gets marketing mail."""
        self._client.call(object, "DELETE", path_of("/v1/email-opt-ins/{}", id))

    def export(self, *, sort_order: Literal["asc", "desc"] | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, status: Sequence[Literal["pending", "opted_in", "opted_out"]] | None = None, email: str | None = None, contact_id: str | None = None, query: str | None = None) -> Download:
        """Export email opt ins as CSV. Takes the filters of the list. Rows are in the order of their creation. A text
        that a spreadsheet would take for a formula begins with an apostrophe.
        """
        return self._client.download("GET", "/v1/exports/email-opt-ins.csv", query={"sortOrder": sort_order, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "status": status, "email": email, "contactId": contact_id, "query": query})

    def get(self, id: str) -> EmailOptIn:
        """Get an email opt-in."""
        return self._client.call(EmailOptIn, "GET", path_of("/v1/email-opt-ins/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "email"] | None = None, status: Sequence[Literal["pending", "opted_in", "opted_out"]] | None = None, email: str | None = None, contact_id: str | None = None, query: str | None = None) -> Pages[EmailOptIn]:
        """List email opt ins, newest first."""
        return self._client.pages(EmailOptIn, "/v1/email-opt-ins", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "status": status, "email": email, "contactId": contact_id, "query": query}, True)

    def restore(self, id: str) -> EmailOptIn:
        """Restore a deleted email opt-in. Works until deleted rows are purged. References to it that the deletion
        cleared come back too.
        """
        return self._client.call(EmailOptIn, "POST", path_of("/v1/email-opt-ins/{}/restore", id))

    def update(self, id: str, *, email: str | Omit = OMIT, contact_id: str | None | Omit = OMIT, status: Literal["pending", "opted_in", "opted_out"] | Omit = OMIT, source: str | None | Omit = OMIT) -> EmailOptIn:
        """Change an email opt-in. A new status sets optedInAt or optedOutAt to now."""
        return self._client.call(EmailOptIn, "PATCH", path_of("/v1/email-opt-ins/{}", id), body={"email": email, "contactId": contact_id, "status": status, "source": source})


class EmailTemplatesResource(Resource):
    """The operations ``email_templates.*``."""

    def create(self, *, name: str, subject: str, body: str, description: str | None | Omit = OMIT, body_format: Literal["markdown", "html"] | Omit = OMIT, status: Literal["active", "archived"] | Omit = OMIT, template_key: Literal["invoice", "invoice_reminder", "payment_receipt"] | None | Omit = OMIT) -> EmailTemplate:
        """Create an email template. Placeholders like {{ customer.name }} and {{ name | default: "there" }} name
        values, and nothing else: there is no logic. The active template with a templateKey is used for the
        service's own mail of that kind; there can be only one.
        """
        return self._client.call(EmailTemplate, "POST", "/v1/email-templates", body={"name": name, "description": description, "subject": subject, "body": body, "bodyFormat": body_format, "status": status, "templateKey": template_key})

    def delete(self, id: str) -> None:
        """Delete an email template."""
        self._client.call(object, "DELETE", path_of("/v1/email-templates/{}", id))

    def get(self, id: str) -> EmailTemplate:
        """Get an email template."""
        return self._client.call(EmailTemplate, "GET", path_of("/v1/email-templates/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None, status: Sequence[Literal["active", "archived"]] | None = None, name: str | None = None) -> Pages[EmailTemplate]:
        """List email templates, newest first."""
        return self._client.pages(EmailTemplate, "/v1/email-templates", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "status": status, "name": name}, True)

    def preview(self, id: str, *, variables: Mapping[str, Any] | Omit = OMIT, business_id: str | None | Omit = OMIT) -> Rendered:
        """Render an email template with values. Nothing is stored or sent. Values appear as they are, never as
        Markdown or HTML. A variable without a value or default is refused. With a businessId, html and text are the
        whole mail, in the letterhead of that business.
        """
        return self._client.call(Rendered, "POST", path_of("/v1/email-templates/{}/preview", id), body={"variables": variables, "businessId": business_id})

    def restore(self, id: str) -> EmailTemplate:
        """Restore a deleted email template. Works until deleted rows are purged. References to it that the deletion
        cleared come back too.
        """
        return self._client.call(EmailTemplate, "POST", path_of("/v1/email-templates/{}/restore", id))

    def update(self, id: str, *, name: str | Omit = OMIT, description: str | None | Omit = OMIT, subject: str | Omit = OMIT, body: str | Omit = OMIT, body_format: Literal["markdown", "html"] | Omit = OMIT, status: Literal["active", "archived"] | Omit = OMIT, template_key: Literal["invoice", "invoice_reminder", "payment_receipt"] | None | Omit = OMIT) -> EmailTemplate:
        """Change fields of an email template."""
        return self._client.call(EmailTemplate, "PATCH", path_of("/v1/email-templates/{}", id), body={"name": name, "description": description, "subject": subject, "body": body, "bodyFormat": body_format, "status": status, "templateKey": template_key})


class EventsResource(Resource):
    """The operations ``events.*``."""

    def get(self, id: str) -> Event:
        """Get an event."""
        return self._client.call(Event, "GET", path_of("/v1/events/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, type: str | None = None, resource_type: str | None = None, resource_id: str | None = None, resource_ids: Sequence[str] | None = None, actor_id: str | None = None, since: _dt.datetime | None = None, until: _dt.datetime | None = None) -> Pages[Event]:
        """List events, newest first. Events feed webhooks and automations, and are the audit trail."""
        return self._client.pages(Event, "/v1/events", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "type": type, "resourceType": resource_type, "resourceId": resource_id, "resourceIds": resource_ids, "actorId": actor_id, "since": since, "until": until}, True)


class FilesAccessLinksResource(Resource):
    """The operations ``files.access_links.*``."""

    def create(self, file_id: str, *, expires_at: _dt.datetime | None | Omit = OMIT, max_downloads: int | None | Omit = OMIT) -> AccessLink:
        """Create a public link to a file. The url is shown only in this answer. Without expiresAt and maxDownloads the
        link works until it or the file is deleted.
        """
        return self._client.call(AccessLink, "POST", path_of("/v1/files/{}/access-links", file_id), body={"expiresAt": wire(expires_at), "maxDownloads": max_downloads})

    def delete(self, file_id: str, access_link_id: str) -> None:
        """Remove an access link from a file."""
        self._client.call(object, "DELETE", path_of("/v1/files/{}/access-links/{}", file_id, access_link_id))

    def download(self, token: str) -> Download:
        """Get the bytes of a file by its access link. Every GET counts as a download, even of a part (Range); a HEAD
        does not. A link that is expired, used up, deleted or unknown is not found.
        """
        return self._client.download("GET", path_of("/f/{}", token))

    def get(self, file_id: str, access_link_id: str) -> AccessLink:
        """Get an access link of a file."""
        return self._client.call(AccessLink, "GET", path_of("/v1/files/{}/access-links/{}", file_id, access_link_id))

    def list(self, file_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[AccessLink]:
        """List a file's access links, newest first."""
        return self._client.pages(AccessLink, path_of("/v1/files/{}/access-links", file_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)


class FilesResource(Resource):
    """The operations ``files.*``."""

    @cached_property
    def access_links(self) -> FilesAccessLinksResource:
        return FilesAccessLinksResource(self._client)

    def delete(self, id: str) -> None:
        """Delete a file. Its access links stop working at once."""
        self._client.call(object, "DELETE", path_of("/v1/files/{}", id))

    def download(self, id: str) -> Download:
        """Get the bytes of a file. Answers with the file's own content type, always as an attachment. Supports Range,
        and If-None-Match with the ETag.
        """
        return self._client.download("GET", path_of("/v1/files/{}/content", id))

    def get(self, id: str) -> File:
        """Get a file's metadata."""
        return self._client.call(File, "GET", path_of("/v1/files/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None, folder_id: str | None = None, query: str | None = None) -> Pages[File]:
        """List files, newest first."""
        return self._client.pages(File, "/v1/files", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "folderId": folder_id, "query": query}, True)

    def read(self, id: str, *, offset: int | None = None) -> FileText:
        """Read a file as text: text, CSV, HTML, PDF or mail. 20000 characters from offset on; send nextOffset as
        offset to read on. Pictures and scans have no text.
        """
        return self._client.call(FileText, "GET", path_of("/v1/files/{}/text", id), query={"offset": offset})

    def restore(self, id: str) -> File:
        """Restore a deleted file. Works until deleted rows are purged. References to it that the deletion cleared come
        back too.
        """
        return self._client.call(File, "POST", path_of("/v1/files/{}/restore", id))

    def update(self, id: str, *, name: str | Omit = OMIT, folder_id: str | None | Omit = OMIT) -> File:
        """Rename a file or move it to another folder. A null folderId takes it out of its folder."""
        return self._client.call(File, "PATCH", path_of("/v1/files/{}", id), body={"name": name, "folderId": folder_id})

    def upload(self, *, file: Upload, name: str | None | Omit = OMIT, folder_id: str | None | Omit = OMIT) -> File:
        """Upload a file. The body is a form with the part file, and optionally name and folderId, in any order. The
        name is by default that of the part, without its path; the content type is detected from the bytes.
        Idempotency keys do not apply.
        """
        return self._client.call(File, "POST", "/v1/files", form={"file": file, "name": name, "folderId": folder_id})


class FoldersResource(Resource):
    """The operations ``folders.*``."""

    def create(self, *, name: str, parent_folder_id: str | None | Omit = OMIT) -> Folder:
        """Create a folder."""
        return self._client.call(Folder, "POST", "/v1/folders", body={"name": name, "parentFolderId": parent_folder_id})

    def delete(self, id: str) -> None:
        """Delete an empty folder."""
        self._client.call(object, "DELETE", path_of("/v1/folders/{}", id))

    def get(self, id: str) -> Folder:
        """Get a folder."""
        return self._client.call(Folder, "GET", path_of("/v1/folders/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None, parent_folder_id: str | None = None) -> Pages[Folder]:
        """List folders, newest first."""
        return self._client.pages(Folder, "/v1/folders", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "parentFolderId": parent_folder_id}, True)

    def restore(self, id: str) -> Folder:
        """Restore a deleted folder. Works until deleted rows are purged. References to it that the deletion cleared
        come back too.
        """
        return self._client.call(Folder, "POST", path_of("/v1/folders/{}/restore", id))

    def update(self, id: str, *, name: str | Omit = OMIT, parent_folder_id: str | None | Omit = OMIT) -> Folder:
        """Rename a folder or move it into another. A null parentFolderId moves it to the top level."""
        return self._client.call(Folder, "PATCH", path_of("/v1/folders/{}", id), body={"name": name, "parentFolderId": parent_folder_id})


class ImportsResource(Resource):
    """The operations ``imports.*``."""

    def create(self, *, file: Upload, object_type: Literal["contacts", "customers"], mapping: str | None | Omit = OMIT, dry_run: bool | Omit = OMIT, lines_action: Literal["create", "update", "unchanged", "fail"] | None | Omit = OMIT, lines_offset: int | Omit = OMIT) -> Import:
        """Import contacts or customers from a CSV or vCard file. A record changes what has its externalId or, of a
        contact, one of its emails, and else creates. Fields that are changed are those that the file has a value
        for; tags are added; emails, numbers and addresses are for new contacts. Without mapping, columns are known
        by their headings. A record that is wrong is named in errors, and the others are imported. A dry run stores
        nothing, and answers 200 with what each line would do, 1,000 at a time: linesAction and linesOffset say
        which.
        """
        return self._client.call(Import, "POST", "/v1/imports", form={"file": file, "objectType": object_type, "mapping": mapping, "dryRun": dry_run, "linesAction": lines_action, "linesOffset": lines_offset})

    def get(self, id: str) -> Import:
        """Get an import, with its progress. The events of what it changes have its id as requestId."""
        return self._client.call(Import, "GET", path_of("/v1/imports/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt"] | None = None, status: Sequence[Literal["receiving", "queued", "running", "succeeded", "failed"]] | None = None, object_type: Sequence[Literal["contacts", "customers"]] | None = None) -> Pages[Import]:
        """List imports, newest first."""
        return self._client.pages(Import, "/v1/imports", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "status": status, "objectType": object_type}, True)


class InvoicesCreditNotesResource(Resource):
    """The operations ``invoices.credit_notes.*``."""

    def create(self, invoice_id: str, *, line_items: Sequence[CreditLineFields] | Omit = OMIT, reason: str | None | Omit = OMIT, amount_cents: int | None | Omit = OMIT) -> CreditNote:
        """Credit an issued invoice: all that is left of it, an amount, or some lines. Without lineItems and
        amountCents, all that is left is credited, whether it was paid or not. amountCents is credited of all lines
        in proportion. Discount and tax follow in proportion. A credit in the customer's ledger takes it back, and
        less is due; an invoice of which nothing is due is paid. What was paid before can be refunded: the invoice's
        amountToRefundCents says how much.
        """
        return self._client.call(CreditNote, "POST", path_of("/v1/invoices/{}/credit-notes", invoice_id), body={"lineItems": wire(line_items), "reason": reason, "amountCents": amount_cents})

    def get(self, invoice_id: str, credit_note_id: str) -> CreditNote:
        """Get a credit note of an invoice."""
        return self._client.call(CreditNote, "GET", path_of("/v1/invoices/{}/credit-notes/{}", invoice_id, credit_note_id))

    def list(self, invoice_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[CreditNote]:
        """List an invoice's credit notes, newest first."""
        return self._client.pages(CreditNote, path_of("/v1/invoices/{}/credit-notes", invoice_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)

    def pdf(self, invoice_id: str, credit_note_id: str) -> Download:
        """Get a credit note as a PDF."""
        return self._client.download("GET", path_of("/v1/invoices/{}/credit-notes/{}/pdf", invoice_id, credit_note_id))


class InvoicesPaymentsResource(Resource):
    """The operations ``invoices.payments.*``."""

    def get(self, invoice_id: str, payment_id: str) -> Payment:
        """Get a payment of an invoice."""
        return self._client.call(Payment, "GET", path_of("/v1/invoices/{}/payments/{}", invoice_id, payment_id))

    def list(self, invoice_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[Payment]:
        """List an invoice's payments, newest first."""
        return self._client.pages(Payment, path_of("/v1/invoices/{}/payments", invoice_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)

    def refund(self, invoice_id: str, payment_id: str, *, amount_cents: int | None | Omit = OMIT) -> Payment:
        """Record that a payment was given back, all that is left of it or a part. A charge in the customer's ledger
        reverses it. It is due again, unless it was credited; the invoice's status goes back.
        """
        return self._client.call(Payment, "POST", path_of("/v1/invoices/{}/payments/{}/refund", invoice_id, payment_id), body={"amountCents": amount_cents})

    def void(self, invoice_id: str, payment_id: str) -> Payment:
        """Void a payment that was recorded by mistake or bounced. The invoice's status goes back, and a charge in the
        customer's ledger reverses the payment.
        """
        return self._client.call(Payment, "POST", path_of("/v1/invoices/{}/payments/{}/void", invoice_id, payment_id))


class InvoicesResource(Resource):
    """The operations ``invoices.*``."""

    @cached_property
    def credit_notes(self) -> InvoicesCreditNotesResource:
        return InvoicesCreditNotesResource(self._client)

    @cached_property
    def payments(self) -> InvoicesPaymentsResource:
        return InvoicesPaymentsResource(self._client)

    def create(self, *, customer_id: str, business_id: str | None | Omit = OMIT, line_items: Sequence[LineItemFields] | Omit = OMIT, currency: str | Omit = OMIT, due_at: _dt.datetime | None | Omit = OMIT, bill_to_name: str | None | Omit = OMIT, bill_to_email: str | None | Omit = OMIT, bill_to_address_line1: str | None | Omit = OMIT, bill_to_address_line2: str | None | Omit = OMIT, bill_to_city: str | None | Omit = OMIT, bill_to_state: str | None | Omit = OMIT, bill_to_postal_code: str | None | Omit = OMIT, bill_to_country: str | None | Omit = OMIT, discount_percent: str | None | Omit = OMIT, prices_include_tax: bool | Omit = OMIT, notes: str | None | Omit = OMIT, terms: str | None | Omit = OMIT, data: Mapping[str, Any] | Omit = OMIT) -> Invoice:
        """Draft an invoice. Missing billTo fields are filled in from the customer and its contact; an address is taken
        as a whole or not at all. Amounts are in the currency's smallest unit; a negative unitAmountCents is a
        discount. Line items take a taxRate, and a discount in per cent or in cents. Each tax is rounded once, over
        the whole invoice.
        """
        return self._client.call(Invoice, "POST", "/v1/invoices", body={"customerId": customer_id, "businessId": business_id, "lineItems": wire(line_items), "currency": currency, "dueAt": wire(due_at), "billToName": bill_to_name, "billToEmail": bill_to_email, "billToAddressLine1": bill_to_address_line1, "billToAddressLine2": bill_to_address_line2, "billToCity": bill_to_city, "billToState": bill_to_state, "billToPostalCode": bill_to_postal_code, "billToCountry": bill_to_country, "discountPercent": discount_percent, "pricesIncludeTax": prices_include_tax, "notes": notes, "terms": terms, "data": data})

    def delete(self, id: str) -> None:
        """Delete a draft."""
        self._client.call(object, "DELETE", path_of("/v1/invoices/{}", id))

    def export(self, *, sort_order: Literal["asc", "desc"] | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, query: str | None = None, status: Sequence[Literal["draft", "issued", "sent", "partially_paid", "paid", "overdue", "void"]] | None = None, customer_id: str | None = None, business_id: str | None = None, due_before: _dt.datetime | None = None, due_after: _dt.datetime | None = None, unpaid: bool | None = None) -> Download:
        """Export invoices as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that
        a spreadsheet would take for a formula begins with an apostrophe.
        """
        return self._client.download("GET", "/v1/exports/invoices.csv", query={"sortOrder": sort_order, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "query": query, "status": status, "customerId": customer_id, "businessId": business_id, "dueBefore": due_before, "dueAfter": due_after, "unpaid": unpaid})

    def get(self, id: str) -> Invoice:
        """Get an invoice with its line items."""
        return self._client.call(Invoice, "GET", path_of("/v1/invoices/{}", id))

    def issue(self, id: str) -> Invoice:
        """Issue a draft: it gets its number and can no longer be changed. The customer's ledger includes it from now
        on. A total of zero is paid at once.
        """
        return self._client.call(Invoice, "POST", path_of("/v1/invoices/{}/issue", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "dueAt", "totalCents"] | None = None, include: Sequence[Literal["customer"]] | None = None, query: str | None = None, status: Sequence[Literal["draft", "issued", "sent", "partially_paid", "paid", "overdue", "void"]] | None = None, customer_id: str | None = None, business_id: str | None = None, due_before: _dt.datetime | None = None, due_after: _dt.datetime | None = None, unpaid: bool | None = None) -> Pages[Invoice]:
        """List invoices, newest first."""
        return self._client.pages(Invoice, "/v1/invoices", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "include": include, "query": query, "status": status, "customerId": customer_id, "businessId": business_id, "dueBefore": due_before, "dueAfter": due_after, "unpaid": unpaid}, True)

    def pdf(self, id: str) -> Download:
        """Get an invoice as a PDF. Dates and amounts follow the business's locale and time zone. A draft or void
        invoice is marked as such.
        """
        return self._client.download("GET", path_of("/v1/invoices/{}/pdf", id))

    def public_pdf(self, token: str) -> Download:
        """Get the PDF of the invoice that a link in a mail names. A link of an invoice that is void or deleted is not
        found.
        """
        return self._client.download("GET", path_of("/invoice-pdf/{}", token))

    def record_payment(self, id: str, *, amount_cents: int, paid_at: _dt.datetime | None | Omit = OMIT, method: Literal["cash", "check", "bank_transfer", "card", "other"] | Omit = OMIT, note: str | None | Omit = OMIT) -> Payment:
        """Record a payment of an invoice. The idempotency key stays bound to the payment for good. Repeating it with
        the same invoice, amountCents, paidAt (or none) and note answers with the recorded payment; anything else is
        refused.
        """
        return self._client.call(Payment, "POST", path_of("/v1/invoices/{}/payments", id), body={"amountCents": amount_cents, "paidAt": wire(paid_at), "method": method, "note": note})

    def restore(self, id: str) -> Invoice:
        """Restore a deleted invoice. Works until deleted rows are purged. References to it that the deletion cleared
        come back too.
        """
        return self._client.call(Invoice, "POST", path_of("/v1/invoices/{}/restore", id))

    def send(self, id: str, *, to: str | None | Omit = OMIT, template_key: Literal["invoice", "invoice_reminder"] | Omit = OMIT, message: str | None | Omit = OMIT, scheduled_at: _dt.datetime | None | Omit = OMIT) -> Invoice:
        """Mail an issued invoice as a PDF, or a reminder of it. The text is the organization's active template with
        the templateKey, or a built-in one. An invoice can be sent again. With scheduledAt the mail is written now,
        as the invoice is now, and leaves then; until then the message can be canceled.
        """
        return self._client.call(Invoice, "POST", path_of("/v1/invoices/{}/send", id), body={"to": to, "templateKey": template_key, "message": message, "scheduledAt": wire(scheduled_at)})

    def totals(self, *, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, query: str | None = None, status: Sequence[Literal["draft", "issued", "sent", "partially_paid", "paid", "overdue", "void"]] | None = None, customer_id: str | None = None, business_id: str | None = None, due_before: _dt.datetime | None = None, due_after: _dt.datetime | None = None, unpaid: bool | None = None) -> Totals:
        """Add up invoices, by currency. The filters are those of the list. All invoices that match are added up, void
        ones left out. Amounts of different currencies are never added.
        """
        return self._client.call(Totals, "GET", "/v1/invoices/totals", query={"ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "query": query, "status": status, "customerId": customer_id, "businessId": business_id, "dueBefore": due_before, "dueAfter": due_after, "unpaid": unpaid})

    def update(self, id: str, *, customer_id: str | Omit = OMIT, line_items: Sequence[LineItemFields] | Omit = OMIT, currency: str | Omit = OMIT, due_at: _dt.datetime | None | Omit = OMIT, bill_to_name: str | None | Omit = OMIT, bill_to_email: str | None | Omit = OMIT, bill_to_address_line1: str | None | Omit = OMIT, bill_to_address_line2: str | None | Omit = OMIT, bill_to_city: str | None | Omit = OMIT, bill_to_state: str | None | Omit = OMIT, bill_to_postal_code: str | None | Omit = OMIT, bill_to_country: str | None | Omit = OMIT, discount_percent: str | None | Omit = OMIT, prices_include_tax: bool | Omit = OMIT, notes: str | None | Omit = OMIT, terms: str | None | Omit = OMIT, data: Mapping[str, Any] | Omit = OMIT) -> Invoice:
        """Change fields of a draft. lineItems replaces all line items. With another customerId, billTo fields that
        were never sent are filled in again.
        """
        return self._client.call(Invoice, "PATCH", path_of("/v1/invoices/{}", id), body={"customerId": customer_id, "lineItems": wire(line_items), "currency": currency, "dueAt": wire(due_at), "billToName": bill_to_name, "billToEmail": bill_to_email, "billToAddressLine1": bill_to_address_line1, "billToAddressLine2": bill_to_address_line2, "billToCity": bill_to_city, "billToState": bill_to_state, "billToPostalCode": bill_to_postal_code, "billToCountry": bill_to_country, "discountPercent": discount_percent, "pricesIncludeTax": prices_include_tax, "notes": notes, "terms": terms, "data": data})

    def void(self, id: str) -> Invoice:
        """Void an issued invoice that has no payments and no credit notes. It keeps its number. A credit in the
        customer's ledger reverses it.
        """
        return self._client.call(Invoice, "POST", path_of("/v1/invoices/{}/void", id))


class MeResource(Resource):
    """The operations ``me.*``."""

    def get(self) -> Me:
        """Show who the caller acts for: organization, business, plan and permissions. Also tells the business's
        timezone, locale and currency, the service's time, and an agent's limits with their use.
        """
        return self._client.call(Me, "GET", "/v1/me")


class MembersResource(Resource):
    """The operations ``members.*``."""

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, query: str | None = None) -> Pages[Colleague]:
        """List the members of the organization, to find whom to assign a task to. The newest come first. Disabled
        users are left out, as they cannot be assigned.
        """
        return self._client.pages(Colleague, "/v1/members", {"limit": limit, "offset": offset, "sortOrder": sort_order, "query": query}, False)

    def update(self, id: str, *, may_spend: bool | Omit = OMIT, may_approve: bool | Omit = OMIT, permissions: Sequence[str] | Omit = OMIT) -> Colleague:
        """Set what a member may do: spend, decide what agents propose, and the permissions. For owners and admins, and
        for API keys with the permission * that one of them made. Owners and admins always may do everything, so
        nothing can be set for them.
        """
        return self._client.call(Colleague, "PATCH", path_of("/v1/members/{}", id), body={"maySpend": may_spend, "mayApprove": may_approve, "permissions": wire(permissions)})


class MessagesAttachmentsResource(Resource):
    """The operations ``messages.attachments.*``."""

    def create(self, message_id: str, *, file_id: str, file_name: str | None | Omit = OMIT) -> MessageAttachment:
        """Attach a file to a draft. The attachments of a message may have 18 MiB in total."""
        return self._client.call(MessageAttachment, "POST", path_of("/v1/messages/{}/attachments", message_id), body={"fileId": file_id, "fileName": file_name})

    def delete(self, message_id: str, attachment_id: str) -> None:
        """Remove an attachment from a draft. The file stays."""
        self._client.call(object, "DELETE", path_of("/v1/messages/{}/attachments/{}", message_id, attachment_id))

    def get(self, message_id: str, attachment_id: str) -> MessageAttachment:
        """Get an attachment of a message. Fetch the bytes through its file."""
        return self._client.call(MessageAttachment, "GET", path_of("/v1/messages/{}/attachments/{}", message_id, attachment_id))

    def list(self, message_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[MessageAttachment]:
        """List a message's attachments, newest first."""
        return self._client.pages(MessageAttachment, path_of("/v1/messages/{}/attachments", message_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)


class MessagesContactsResource(Resource):
    """The operations ``messages.contacts.*``."""

    def create(self, message_id: str, *, contact_id: str, role: Literal["from", "to", "cc", "bcc", "mentioned"] | Omit = OMIT) -> MessageContact:
        """Link a contact to a message. Contacts with an address of the message are linked automatically."""
        return self._client.call(MessageContact, "POST", path_of("/v1/messages/{}/contacts", message_id), body={"contactId": contact_id, "role": role})

    def delete(self, message_id: str, message_contact_id: str) -> None:
        """Unlink a contact from a message. messageContactId is the id of the link, not of the contact."""
        self._client.call(object, "DELETE", path_of("/v1/messages/{}/contacts/{}", message_id, message_contact_id))

    def list(self, message_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[MessageContact]:
        """List a message's contacts, newest first."""
        return self._client.pages(MessageContact, path_of("/v1/messages/{}/contacts", message_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)


class MessagesResource(Resource):
    """The operations ``messages.*``."""

    @cached_property
    def attachments(self) -> MessagesAttachmentsResource:
        return MessagesAttachmentsResource(self._client)

    @cached_property
    def contacts(self) -> MessagesContactsResource:
        return MessagesContactsResource(self._client)

    def cancel(self, id: str) -> Message:
        """Cancel a message before it is sent. Works while the message is scheduled or queued and nobody has received
        it.
        """
        return self._client.call(Message, "POST", path_of("/v1/messages/{}/cancel", id))

    def create(self, *, to: str | Sequence[str] | Omit = OMIT, cc: str | Sequence[str] | None | Omit = OMIT, bcc: str | Sequence[str] | None | Omit = OMIT, from_: str | None | Omit = OMIT, reply_to: str | None | Omit = OMIT, subject: str | None | Omit = OMIT, text: str | None | Omit = OMIT, html: str | None | Omit = OMIT, template_id: str | None | Omit = OMIT, variables: Mapping[str, Any] | Omit = OMIT, file_ids: Sequence[str] | Omit = OMIT, invoice_ids: Sequence[str] | Omit = OMIT, purpose: Literal["transactional", "marketing"] | Omit = OMIT, scheduled_at: _dt.datetime | None | Omit = OMIT, in_reply_to_id: str | None | Omit = OMIT, contact_id: str | None | Omit = OMIT, customer_id: str | None | Omit = OMIT, draft: bool | Omit = OMIT, letterhead: bool | Omit = OMIT, answer: bool | None | Omit = OMIT, markdown: bool | Omit = OMIT) -> Message:
        """Write a message, and send it unless it is a draft. It is sent at scheduledAt, otherwise at once; a draft
        waits for messages.send. to, cc and bcc take one address or an array, without names. from may have a name:
        "Business name" <name@example.com>; without one it is the business's. A message needs a subject, or a
        template that has one; without text, it is derived from the HTML. With inReplyToId, to and subject may be
        left out. Marketing mail goes to each recipient alone, and only to addresses that opted in.
        """
        return self._client.call(Message, "POST", "/v1/messages", body={"to": to, "cc": cc, "bcc": bcc, "from": from_, "replyTo": reply_to, "subject": subject, "text": text, "html": html, "templateId": template_id, "variables": variables, "fileIds": wire(file_ids), "invoiceIds": wire(invoice_ids), "purpose": purpose, "scheduledAt": wire(scheduled_at), "inReplyToId": in_reply_to_id, "contactId": contact_id, "customerId": customer_id, "draft": draft, "letterhead": letterhead, "answer": answer, "markdown": markdown})

    def delete(self, id: str) -> None:
        """Delete a draft."""
        self._client.call(object, "DELETE", path_of("/v1/messages/{}", id))

    def get(self, id: str) -> Message:
        """Get a message."""
        return self._client.call(Message, "GET", path_of("/v1/messages/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt"] | None = None, direction: Sequence[Literal["inbound", "outbound"]] | None = None, status: Sequence[Literal["draft", "scheduled", "queued", "sending", "sent", "delivered", "bounced", "failed", "canceled", "received"]] | None = None, thread_id: str | None = None, contact_id: str | None = None, customer_id: str | None = None, query: str | None = None, include: Sequence[Literal["contacts"]] | None = None) -> Pages[Message]:
        """List messages, newest first."""
        return self._client.pages(Message, "/v1/messages", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "direction": direction, "status": status, "threadId": thread_id, "contactId": contact_id, "customerId": customer_id, "query": query, "include": include}, True)

    def send(self, id: str) -> Message:
        """Send a draft. It is sent at scheduledAt if that is in the future, otherwise at once."""
        return self._client.call(Message, "POST", path_of("/v1/messages/{}/send", id))

    def unschedule(self, id: str) -> Message:
        """Make a scheduled message a draft again. Works until its time has come. It can then be changed and sent.
        """
        return self._client.call(Message, "POST", path_of("/v1/messages/{}/unschedule", id))

    def update(self, id: str, *, to: str | Sequence[str] | Omit = OMIT, cc: str | Sequence[str] | None | Omit = OMIT, bcc: str | Sequence[str] | None | Omit = OMIT, from_: str | Omit = OMIT, reply_to: str | None | Omit = OMIT, subject: str | Omit = OMIT, text: str | None | Omit = OMIT, html: str | None | Omit = OMIT, template_id: str | None | Omit = OMIT, variables: Mapping[str, Any] | Omit = OMIT, file_ids: Sequence[str] | None | Omit = OMIT, invoice_ids: Sequence[str] | None | Omit = OMIT, purpose: Literal["transactional", "marketing"] | Omit = OMIT, scheduled_at: _dt.datetime | None | Omit = OMIT, in_reply_to_id: str | None | Omit = OMIT, contact_id: str | None | Omit = OMIT, customer_id: str | None | Omit = OMIT, letterhead: bool | Omit = OMIT, markdown: bool | Omit = OMIT) -> Message:
        """Change fields of a draft. fileIds replaces all attachments. A templateId renders again, with variables.
        """
        return self._client.call(Message, "PATCH", path_of("/v1/messages/{}", id), body={"to": to, "cc": cc, "bcc": bcc, "from": from_, "replyTo": reply_to, "subject": subject, "text": text, "html": html, "templateId": template_id, "variables": variables, "fileIds": wire(file_ids), "invoiceIds": wire(invoice_ids), "purpose": purpose, "scheduledAt": wire(scheduled_at), "inReplyToId": in_reply_to_id, "contactId": contact_id, "customerId": customer_id, "letterhead": letterhead, "markdown": markdown})


class NotificationsResource(Resource):
    """The operations ``notifications.*``."""

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, unread: bool | None = None, kind: Sequence[Literal["mentioned", "assigned", "answered", "proposal", "invoice_paid", "payment_failed", "mail_failed", "backup_failed", "domain", "webhook"]] | None = None) -> Pages[Notification]:
        """List your notifications, newest first. A key or an agent reads those of its maker, and of these what it may
        read itself.
        """
        return self._client.pages(Notification, "/v1/notifications", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "unread": unread, "kind": kind}, True)

    def read(self, *, ids: Sequence[str] | None | Omit = OMIT) -> Unread:
        """Mark notifications as read. Without ids, all of them."""
        return self._client.call(Unread, "POST", "/v1/notifications/read", body={"ids": wire(ids)})


class OperationsResource(Resource):
    """The operations ``operations.*``."""

    def get(self, id: str) -> Operation:
        """Get the progress of a registration or renewal."""
        return self._client.call(Operation, "GET", path_of("/v1/operations/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt"] | None = None, type: Sequence[Literal["domain_registration", "domain_renewal"]] | None = None, status: Sequence[Literal["queued", "running", "succeeded", "failed"]] | None = None) -> Pages[Operation]:
        """List registrations and renewals that were paid for, newest first."""
        return self._client.pages(Operation, "/v1/operations", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "type": type, "status": status}, True)


class PropertyDefinitionsResource(Resource):
    """The operations ``property_definitions.*``."""

    def create(self, *, object_type: Literal["contact", "customer", "business"], key: str, value_type: Literal["text", "number", "boolean", "date", "url", "select", "multi_select"], name: str, description: str | None | Omit = OMIT, options: Sequence[str] | None | Omit = OMIT, is_required: bool | Omit = OMIT) -> PropertyDefinition:
        """Define a property of contacts, customers or businesses. A select or multi_select needs options. Key, object
        type and value type never change.
        """
        return self._client.call(PropertyDefinition, "POST", "/v1/property-definitions", body={"objectType": object_type, "key": key, "valueType": value_type, "name": name, "description": description, "options": wire(options), "isRequired": is_required})

    def delete(self, id: str) -> None:
        """Delete a property definition and all its values."""
        self._client.call(object, "DELETE", path_of("/v1/property-definitions/{}", id))

    def get(self, id: str) -> PropertyDefinition:
        """Get a property definition."""
        return self._client.call(PropertyDefinition, "GET", path_of("/v1/property-definitions/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "name"] | None = None, object_type: Sequence[Literal["contact", "customer", "business"]] | None = None, query: str | None = None) -> Pages[PropertyDefinition]:
        """List property definitions, newest first."""
        return self._client.pages(PropertyDefinition, "/v1/property-definitions", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "objectType": object_type, "query": query}, True)

    def restore(self, id: str) -> PropertyDefinition:
        """Restore a deleted property definition. Works until deleted rows are purged. References to it that the
        deletion cleared come back too.
        """
        return self._client.call(PropertyDefinition, "POST", path_of("/v1/property-definitions/{}/restore", id))

    def update(self, id: str, *, name: str | Omit = OMIT, description: str | None | Omit = OMIT, options: Sequence[str] | None | Omit = OMIT, is_required: bool | Omit = OMIT) -> PropertyDefinition:
        """Change a property definition. Values with a removed option stay as they are."""
        return self._client.call(PropertyDefinition, "PATCH", path_of("/v1/property-definitions/{}", id), body={"name": name, "description": description, "options": wire(options), "isRequired": is_required})


class ProposalsResource(Resource):
    """The operations ``proposals.*``."""

    def cancel(self, id: str) -> Proposal:
        """Withdraw a proposal that was not carried out."""
        return self._client.call(Proposal, "POST", path_of("/v1/proposals/{}/cancel", id))

    def create(self, *, title: str, steps: Sequence[StepInput], reason: str | None | Omit = OMIT, expires_at: _dt.datetime | None | Omit = OMIT, replaces_id: str | None | Omit = OMIT) -> Proposal:
        """Rehearse operation calls and propose them. The steps run for real and are undone; a planned one is yours to
        execute, a pending one waits for a person. effects[] tells what the steps would do. It is planned when you
        may do every step yourself; not executed, it is a dry run. A step's texts may have placeholders over what
        earlier steps saved.
        """
        return self._client.call(Proposal, "POST", "/v1/proposals", body={"title": title, "reason": reason, "steps": wire(steps), "expiresAt": wire(expires_at), "replacesId": replaces_id})

    def execute(self, id: str) -> Proposal:
        """Carry out a planned proposal, exactly as it was shown."""
        return self._client.call(Proposal, "POST", path_of("/v1/proposals/{}/execute", id))

    def get(self, id: str, *, wait_seconds: int | None = None, view: Literal["auto", "short", "full"] | None = None) -> Proposal:
        """Get a proposal, and wait for its decision. With waitSeconds it answers once the proposal has come to an end,
        or when the time is up. An agent that waits is then told how it stands without steps and effects, unless
        view is full.
        """
        return self._client.call(Proposal, "GET", path_of("/v1/proposals/{}", id), query={"waitSeconds": wait_seconds, "view": view})

    def wait(self, id: str, *, timeout: float | None = None) -> Proposal:
        """Waits until it is decided and carried out, or for at most ``timeout`` seconds."""
        return settled(lambda seconds: self.get(id, wait_seconds=seconds), timeout)

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt"] | None = None, status: Sequence[Literal["planned", "pending", "approved", "executing", "executed", "failed", "rejected", "canceled", "expired", "stale"]] | None = None, agent_id: str | None = None, undoes_import_id: str | None = None) -> Pages[Proposal]:
        """List proposals, newest first. A key or an agent sees its own, a person those of the whole organization.
        """
        return self._client.pages(Proposal, "/v1/proposals", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "status": status, "agentId": agent_id, "undoesImportId": undoes_import_id}, True)


class ReportsAgentsResource(Resource):
    """The operations ``reports.agents.*``."""

    def export(self, *, from_: str | None = None, to: str | None = None, business_id: str | None = None, currency: str | None = None, group_by: Literal["month", "week", "quarter", "customer", "offering", "age", "member", "agent"] | None = None, limit: int | None = None) -> Download:
        """Get the report agents as CSV."""
        return self._client.download("GET", "/v1/reports/agents.csv", query={"from": from_, "to": to, "businessId": business_id, "currency": currency, "groupBy": group_by, "limit": limit})


class ReportsMailResource(Resource):
    """The operations ``reports.mail.*``."""

    def export(self, *, from_: str | None = None, to: str | None = None, business_id: str | None = None, currency: str | None = None, group_by: Literal["month", "week", "quarter", "customer", "offering", "age", "member", "agent"] | None = None, limit: int | None = None) -> Download:
        """Get the report mail as CSV."""
        return self._client.download("GET", "/v1/reports/mail.csv", query={"from": from_, "to": to, "businessId": business_id, "currency": currency, "groupBy": group_by, "limit": limit})


class ReportsReceivablesResource(Resource):
    """The operations ``reports.receivables.*``."""

    def export(self, *, from_: str | None = None, to: str | None = None, business_id: str | None = None, currency: str | None = None, group_by: Literal["month", "week", "quarter", "customer", "offering", "age", "member", "agent"] | None = None, limit: int | None = None) -> Download:
        """Get the report receivables as CSV."""
        return self._client.download("GET", "/v1/reports/receivables.csv", query={"from": from_, "to": to, "businessId": business_id, "currency": currency, "groupBy": group_by, "limit": limit})


class ReportsRevenueResource(Resource):
    """The operations ``reports.revenue.*``."""

    def export(self, *, from_: str | None = None, to: str | None = None, business_id: str | None = None, currency: str | None = None, group_by: Literal["month", "week", "quarter", "customer", "offering", "age", "member", "agent"] | None = None, limit: int | None = None) -> Download:
        """Get the report revenue as CSV."""
        return self._client.download("GET", "/v1/reports/revenue.csv", query={"from": from_, "to": to, "businessId": business_id, "currency": currency, "groupBy": group_by, "limit": limit})


class ReportsTaxesResource(Resource):
    """The operations ``reports.taxes.*``."""

    def export(self, *, from_: str | None = None, to: str | None = None, business_id: str | None = None, currency: str | None = None, group_by: Literal["month", "week", "quarter", "customer", "offering", "age", "member", "agent"] | None = None, limit: int | None = None) -> Download:
        """Get the report taxes as CSV."""
        return self._client.download("GET", "/v1/reports/taxes.csv", query={"from": from_, "to": to, "businessId": business_id, "currency": currency, "groupBy": group_by, "limit": limit})


class ReportsResource(Resource):
    """The operations ``reports.*``."""

    @cached_property
    def agents(self) -> ReportsAgentsResource:
        return ReportsAgentsResource(self._client)

    @cached_property
    def mail(self) -> ReportsMailResource:
        return ReportsMailResource(self._client)

    @cached_property
    def receivables(self) -> ReportsReceivablesResource:
        return ReportsReceivablesResource(self._client)

    @cached_property
    def revenue(self) -> ReportsRevenueResource:
        return ReportsRevenueResource(self._client)

    @cached_property
    def taxes(self) -> ReportsTaxesResource:
        return ReportsTaxesResource(self._client)

    def get(self, name: str, *, from_: str | None = None, to: str | None = None, business_id: str | None = None, currency: str | None = None, group_by: Literal["month", "week", "quarter", "customer", "offering", "age", "member", "agent"] | None = None, limit: int | None = None) -> Report:
        """Add up money, mail or agents' doings over time. revenue: invoiced, received and credited by month, week,
        quarter, customer or offering. receivables: what is owed now by age or customer; from and to bound the day
        of issue. taxes: by rate and quarter or month. mail: received, answered, waiting, by member. agents: by
        agent, for owners and admins. Void invoices and payments do not count, and a refund lowers its payment.
        """
        return self._client.call(Report, "GET", path_of("/v1/reports/{}", name), query={"from": from_, "to": to, "businessId": business_id, "currency": currency, "groupBy": group_by, "limit": limit})


class SuggestionsResource(Resource):
    """The operations ``suggestions.*``."""

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, object_type: Sequence[Literal["contact", "customer", "business"]] | None = None, definition_id: str | None = None, agent_id: str | None = None) -> Pages[PropertyValue]:
        """List the property values that wait for a decision, newest first. Those of contacts, customers and businesses
        together. Confirm or dismiss one with the update operation of its object's properties.
        """
        return self._client.pages(PropertyValue, "/v1/suggestions", {"limit": limit, "offset": offset, "sortOrder": sort_order, "objectType": object_type, "definitionId": definition_id, "agentId": agent_id}, False)


class TasksActivityResource(Resource):
    """The operations ``tasks.activity.*``."""

    def create(self, task_id: str, *, body: str) -> TaskActivity:
        """Comment on a task."""
        return self._client.call(TaskActivity, "POST", path_of("/v1/tasks/{}/activity", task_id), body={"body": body})

    def list(self, task_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[TaskActivity]:
        """List what happened to a task, newest first."""
        return self._client.pages(TaskActivity, path_of("/v1/tasks/{}/activity", task_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)


class TasksAssigneesResource(Resource):
    """The operations ``tasks.assignees.*``."""

    def create(self, task_id: str, *, user_id: str) -> TaskAssignee:
        """Assign a task to a member of the organization."""
        return self._client.call(TaskAssignee, "POST", path_of("/v1/tasks/{}/assignees", task_id), body={"userId": user_id})

    def delete(self, task_id: str, assignee_id: str) -> None:
        """Unassign a task. assigneeId is the id of the assignment, not of the user."""
        self._client.call(object, "DELETE", path_of("/v1/tasks/{}/assignees/{}", task_id, assignee_id))

    def list(self, task_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[TaskAssignee]:
        """List a task's assignees, newest first."""
        return self._client.pages(TaskAssignee, path_of("/v1/tasks/{}/assignees", task_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)


class TasksResource(Resource):
    """The operations ``tasks.*``."""

    @cached_property
    def activity(self) -> TasksActivityResource:
        return TasksActivityResource(self._client)

    @cached_property
    def assignees(self) -> TasksAssigneesResource:
        return TasksAssigneesResource(self._client)

    def batch(self, *, rows: Sequence[TaskRowInput], mode: Literal["atomic", "each"] | Omit = OMIT) -> List[BatchResult[Task]]:
        """Create, change and delete up to 500 tasks at once. A row with an id changes, {id, delete: true} deletes, one
        without an id creates. The answer has a status with data or error for each row, in order. 25 rows count as
        one request.
        """
        return self._client.call(list[BatchResult[Task]], "POST", "/v1/tasks/batch", body={"mode": mode, "rows": wire(rows)})

    def create(self, *, title: str, description: str | None | Omit = OMIT, status: Literal["open", "in_progress", "completed", "canceled"] | Omit = OMIT, priority: Literal["low", "normal", "high", "urgent"] | Omit = OMIT, due_at: _dt.datetime | None | Omit = OMIT, contact_id: str | None | Omit = OMIT, customer_id: str | None | Omit = OMIT, business_id: str | None | Omit = OMIT, assignee_ids: Sequence[str] | Omit = OMIT) -> Task:
        """Create a task."""
        return self._client.call(Task, "POST", "/v1/tasks", body={"title": title, "description": description, "status": status, "priority": priority, "dueAt": wire(due_at), "contactId": contact_id, "customerId": customer_id, "businessId": business_id, "assigneeIds": wire(assignee_ids)})

    def delete(self, id: str) -> None:
        """Delete a task."""
        self._client.call(object, "DELETE", path_of("/v1/tasks/{}", id))

    def export(self, *, sort_order: Literal["asc", "desc"] | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, status: Sequence[Literal["open", "in_progress", "completed", "canceled"]] | None = None, priority: Sequence[Literal["low", "normal", "high", "urgent"]] | None = None, assignee_id: str | None = None, contact_id: str | None = None, customer_id: str | None = None, business_id: str | None = None, due_before: _dt.datetime | None = None, due_after: _dt.datetime | None = None, query: str | None = None) -> Download:
        """Export tasks as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that a
        spreadsheet would take for a formula begins with an apostrophe.
        """
        return self._client.download("GET", "/v1/exports/tasks.csv", query={"sortOrder": sort_order, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "status": status, "priority": priority, "assigneeId": assignee_id, "contactId": contact_id, "customerId": customer_id, "businessId": business_id, "dueBefore": due_before, "dueAfter": due_after, "query": query})

    def get(self, id: str) -> Task:
        """Get a task."""
        return self._client.call(Task, "GET", path_of("/v1/tasks/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "dueAt", "title"] | None = None, status: Sequence[Literal["open", "in_progress", "completed", "canceled"]] | None = None, priority: Sequence[Literal["low", "normal", "high", "urgent"]] | None = None, assignee_id: str | None = None, contact_id: str | None = None, customer_id: str | None = None, business_id: str | None = None, due_before: _dt.datetime | None = None, due_after: _dt.datetime | None = None, query: str | None = None) -> Pages[Task]:
        """List tasks, newest first."""
        return self._client.pages(Task, "/v1/tasks", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "status": status, "priority": priority, "assigneeId": assignee_id, "contactId": contact_id, "customerId": customer_id, "businessId": business_id, "dueBefore": due_before, "dueAfter": due_after, "query": query}, True)

    def restore(self, id: str) -> Task:
        """Restore a deleted task. Works until deleted rows are purged. References to it that the deletion cleared come
        back too.
        """
        return self._client.call(Task, "POST", path_of("/v1/tasks/{}/restore", id))

    def update(self, id: str, *, title: str | Omit = OMIT, description: str | None | Omit = OMIT, status: Literal["open", "in_progress", "completed", "canceled"] | Omit = OMIT, priority: Literal["low", "normal", "high", "urgent"] | Omit = OMIT, due_at: _dt.datetime | None | Omit = OMIT, contact_id: str | None | Omit = OMIT, customer_id: str | None | Omit = OMIT, business_id: str | None | Omit = OMIT) -> Task:
        """Change fields of a task. completedAt follows the status."""
        return self._client.call(Task, "PATCH", path_of("/v1/tasks/{}", id), body={"title": title, "description": description, "status": status, "priority": priority, "dueAt": wire(due_at), "contactId": contact_id, "customerId": customer_id, "businessId": business_id})


class ThreadsNotesResource(Resource):
    """The operations ``threads.notes.*``."""

    def create(self, thread_id: str, *, body: str) -> ThreadNote:
        """Add a note to a thread. Notes are for the house alone: no mail ever contains one."""
        return self._client.call(ThreadNote, "POST", path_of("/v1/threads/{}/notes", thread_id), body={"body": body})

    def delete(self, thread_id: str, note_id: str) -> None:
        """Remove a note from a thread."""
        self._client.call(object, "DELETE", path_of("/v1/threads/{}/notes/{}", thread_id, note_id))

    def list(self, thread_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None) -> Pages[ThreadNote]:
        """List a thread's notes, newest first."""
        return self._client.pages(ThreadNote, path_of("/v1/threads/{}/notes", thread_id), {"limit": limit, "offset": offset, "sortOrder": sort_order}, False)


class ThreadsResource(Resource):
    """The operations ``threads.*``."""

    @cached_property
    def notes(self) -> ThreadsNotesResource:
        return ThreadsNotesResource(self._client)

    def get(self, id: str) -> Thread:
        """Get a thread. messages.list with its threadId lists the messages."""
        return self._client.call(Thread, "GET", path_of("/v1/threads/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt", "lastMessageAt"] | None = None, status: Sequence[Literal["open", "waiting", "closed"]] | None = None, assignee_id: str | None = None, contact_id: str | None = None, customer_id: str | None = None, unread: bool | None = None, snoozed: bool | None = None, query: str | None = None, include: Sequence[Literal["lastMessage"]] | None = None) -> Pages[Thread]:
        """List threads, newest first. A thread is what threadId of a message names: the message and all its answers.
        """
        return self._client.pages(Thread, "/v1/threads", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "status": status, "assigneeId": assignee_id, "contactId": contact_id, "customerId": customer_id, "unread": unread, "snoozed": snoozed, "query": query, "include": include}, True)

    def update(self, id: str, *, subject: str | Omit = OMIT, status: Literal["open", "waiting", "closed"] | Omit = OMIT, assignee_id: str | None | Omit = OMIT, snoozed_until: _dt.datetime | None | Omit = OMIT, contact_id: str | None | Omit = OMIT, customer_id: str | None | Omit = OMIT, unread: bool | Omit = OMIT) -> Thread:
        """Change fields of a thread: assign it, snooze it, close it, mark it as read. A received message makes a
        thread open and unread again, and ends its snooze. The subject is for the house: mail keeps its own.
        """
        return self._client.call(Thread, "PATCH", path_of("/v1/threads/{}", id), body={"subject": subject, "status": status, "assigneeId": assignee_id, "snoozedUntil": wire(snoozed_until), "contactId": contact_id, "customerId": customer_id, "unread": unread})


class UndoResource(Resource):
    """The operations ``undo.*``."""

    def create(self, *, agent_id: str | None | Omit = OMIT, proposal_id: str | None | Omit = OMIT, request_id: str | None | Omit = OMIT, import_id: str | None | Omit = OMIT, since: _dt.datetime | None | Omit = OMIT) -> Proposal:
        """Plan how to take back what an agent, a proposal, a request or an import did. Answers with a planned proposal
        of the inverse steps: execute it to undo. That of an agent is pending, for a person to decide. What somebody
        changed since stays as it is and is named in skipped[], and so is what cannot be taken back. More than 500
        events are taken back in parts, newest first: effects[] shows the first of them, and once executed the only
        step's result tells how far it has come.
        """
        return self._client.call(Proposal, "POST", "/v1/undo", body={"agentId": agent_id, "proposalId": proposal_id, "requestId": request_id, "importId": import_id, "since": wire(since)})


class ViewsResource(Resource):
    """The operations ``views.*``."""

    def create(self, *, object_type: str, name: str, query: Mapping[str, Any], columns: Sequence[str] | Omit = OMIT, shared: bool | Omit = OMIT) -> View:
        """Save a view of a list. Lists and exports take it as viewId. Whoever may change what is listed may save views
        of it. Only a shared view has events.
        """
        return self._client.call(View, "POST", "/v1/views", body={"objectType": object_type, "name": name, "query": query, "columns": wire(columns), "shared": shared})

    def delete(self, id: str) -> None:
        """Delete a saved view."""
        self._client.call(object, "DELETE", path_of("/v1/views/{}", id))

    def get(self, id: str) -> View:
        """Get a saved view."""
        return self._client.call(View, "GET", path_of("/v1/views/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, object_type: Sequence[str] | None = None) -> Pages[View]:
        """List saved views, newest first. One's own and the shared ones, of the lists that the caller may read.
        """
        return self._client.pages(View, "/v1/views", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "objectType": object_type}, True)

    def restore(self, id: str) -> View:
        """Restore a deleted view."""
        return self._client.call(View, "POST", path_of("/v1/views/{}/restore", id))

    def update(self, id: str, *, name: str | Omit = OMIT, query: Mapping[str, Any] | Omit = OMIT, columns: Sequence[str] | Omit = OMIT, shared: bool | Omit = OMIT) -> View:
        """Change a saved view. A shared view is changed by its maker, owners and admins."""
        return self._client.call(View, "PATCH", path_of("/v1/views/{}", id), body={"name": name, "query": query, "columns": wire(columns), "shared": shared})


class WebhooksDeliveriesResource(Resource):
    """The operations ``webhooks.deliveries.*``."""

    def get(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Get a delivery of a webhook. Only this answer has requestBody and history."""
        return self._client.call(Delivery, "GET", path_of("/v1/webhooks/{}/deliveries/{}", webhook_id, delivery_id))

    def list(self, webhook_id: str, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, status: Sequence[Literal["pending", "retrying", "succeeded", "failed", "canceled"]] | None = None, event_type: str | None = None) -> Pages[Delivery]:
        """List a webhook's deliveries, newest first. Deliveries are kept for 30 days. A retrying one has more attempts
        to come; a canceled one was not sent, because its webhook was disabled or deleted first.
        """
        return self._client.pages(Delivery, path_of("/v1/webhooks/{}/deliveries", webhook_id), {"limit": limit, "offset": offset, "sortOrder": sort_order, "status": status, "eventType": event_type}, False)

    def redeliver(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Send a delivery again now. Answers with what came back. Works for every delivery, even one that succeeded,
        and for a disabled webhook. A failure does not affect the attempts to come.
        """
        return self._client.call(Delivery, "POST", path_of("/v1/webhooks/{}/deliveries/{}/redeliver", webhook_id, delivery_id))


class WebhooksResource(Resource):
    """The operations ``webhooks.*``."""

    @cached_property
    def deliveries(self) -> WebhooksDeliveriesResource:
        return WebhooksDeliveriesResource(self._client)

    def create(self, *, url: str, events: Sequence[str], description: str | None | Omit = OMIT, status: Literal["active", "disabled"] | Omit = OMIT) -> Webhook:
        """Create a webhook. The secret is shown only in this answer. Deliveries are signed with it as Standard
        Webhooks says: headers webhook-id, webhook-timestamp and webhook-signature.
        """
        return self._client.call(Webhook, "POST", "/v1/webhooks", body={"url": url, "events": wire(events), "description": description, "status": status})

    def delete(self, id: str) -> None:
        """Delete a webhook. Waiting deliveries are canceled."""
        self._client.call(object, "DELETE", path_of("/v1/webhooks/{}", id))

    def get(self, id: str) -> Webhook:
        """Get a webhook. disabledReason says why the service disabled it: gone, the endpoint answered 410; failing,
        nothing came through for three days; maker_left, the member who last set its URL left the organization.
        """
        return self._client.call(Webhook, "GET", path_of("/v1/webhooks/{}", id))

    def list(self, *, limit: int | None = None, offset: int | None = None, sort_order: Literal["asc", "desc"] | None = None, cursor: str | None = None, ids: Sequence[str] | None = None, created_after: _dt.datetime | None = None, created_before: _dt.datetime | None = None, updated_after: _dt.datetime | None = None, updated_before: _dt.datetime | None = None, view_id: str | None = None, sort_by: Literal["createdAt", "updatedAt"] | None = None, status: Sequence[Literal["active", "disabled"]] | None = None) -> Pages[Webhook]:
        """List webhooks, newest first."""
        return self._client.pages(Webhook, "/v1/webhooks", {"limit": limit, "offset": offset, "sortOrder": sort_order, "cursor": cursor, "ids": ids, "createdAfter": created_after, "createdBefore": created_before, "updatedAfter": updated_after, "updatedBefore": updated_before, "viewId": view_id, "sortBy": sort_by, "status": status}, True)

    def restore(self, id: str) -> Webhook:
        """Restore a deleted webhook. Works until deleted rows are purged. References to it that the deletion cleared
        come back too.
        """
        return self._client.call(Webhook, "POST", path_of("/v1/webhooks/{}/restore", id))

    def rotate_secret(self, id: str) -> Webhook:
        """Give a webhook a new secret. The secret is shown only in this answer. For 24 hours both the new and the
        previous secret sign, so that the receiver can switch at its own pace. Another rotation in that time ends
        the oldest at once.
        """
        return self._client.call(Webhook, "POST", path_of("/v1/webhooks/{}/rotate-secret", id))

    def test(self, id: str) -> Delivery:
        """Send a test event to a webhook now. Sends a signed event of the type webhook.test and answers with what came
        back. It is not retried. Works for a disabled webhook too.
        """
        return self._client.call(Delivery, "POST", path_of("/v1/webhooks/{}/test", id))

    def update(self, id: str, *, url: str | Omit = OMIT, events: Sequence[str] | Omit = OMIT, description: str | None | Omit = OMIT, status: Literal["active", "disabled"] | Omit = OMIT) -> Webhook:
        """Change fields of a webhook. Disabling it cancels the deliveries that are waiting. Events of that time are
        not sent later.
        """
        return self._client.call(Webhook, "PATCH", path_of("/v1/webhooks/{}", id), body={"url": url, "events": wire(events), "description": description, "status": status})


class Frontdesk(Client):
    """The API of a Frontdesk server."""

    @cached_property
    def automation_executions(self) -> AutomationExecutionsResource:
        return AutomationExecutionsResource(self)

    @cached_property
    def automations(self) -> AutomationsResource:
        return AutomationsResource(self)

    @cached_property
    def businesses(self) -> BusinessesResource:
        return BusinessesResource(self)

    @cached_property
    def contacts(self) -> ContactsResource:
        return ContactsResource(self)

    @cached_property
    def customers(self) -> CustomersResource:
        return CustomersResource(self)

    @cached_property
    def domain_contacts(self) -> DomainContactsResource:
        return DomainContactsResource(self)

    @cached_property
    def domains(self) -> DomainsResource:
        return DomainsResource(self)

    @cached_property
    def email_opt_ins(self) -> EmailOptInsResource:
        return EmailOptInsResource(self)

    @cached_property
    def email_templates(self) -> EmailTemplatesResource:
        return EmailTemplatesResource(self)

    @cached_property
    def events(self) -> EventsResource:
        return EventsResource(self)

    @cached_property
    def files(self) -> FilesResource:
        return FilesResource(self)

    @cached_property
    def folders(self) -> FoldersResource:
        return FoldersResource(self)

    @cached_property
    def imports(self) -> ImportsResource:
        return ImportsResource(self)

    @cached_property
    def invoices(self) -> InvoicesResource:
        return InvoicesResource(self)

    @cached_property
    def me(self) -> MeResource:
        return MeResource(self)

    @cached_property
    def members(self) -> MembersResource:
        return MembersResource(self)

    @cached_property
    def messages(self) -> MessagesResource:
        return MessagesResource(self)

    @cached_property
    def notifications(self) -> NotificationsResource:
        return NotificationsResource(self)

    @cached_property
    def operations(self) -> OperationsResource:
        return OperationsResource(self)

    @cached_property
    def property_definitions(self) -> PropertyDefinitionsResource:
        return PropertyDefinitionsResource(self)

    @cached_property
    def proposals(self) -> ProposalsResource:
        return ProposalsResource(self)

    @cached_property
    def reports(self) -> ReportsResource:
        return ReportsResource(self)

    @cached_property
    def suggestions(self) -> SuggestionsResource:
        return SuggestionsResource(self)

    @cached_property
    def tasks(self) -> TasksResource:
        return TasksResource(self)

    @cached_property
    def threads(self) -> ThreadsResource:
        return ThreadsResource(self)

    @cached_property
    def undo(self) -> UndoResource:
        return UndoResource(self)

    @cached_property
    def views(self) -> ViewsResource:
        return ViewsResource(self)

    @cached_property
    def webhooks(self) -> WebhooksResource:
        return WebhooksResource(self)
