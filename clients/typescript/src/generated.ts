// Written by `make generate` from the operations of the API. Do not edit.
import { Client, path, Resource, settled, type CallOptions, type ClientOptions } from './client.js'
import type { Pages } from './pages.js'
import type { Download, Upload } from './streams.js'

/** Every code of a refusal. */
export type ErrorCode =
  | 'ACCOUNT_DISABLED' // 403: This account is disabled.
  | 'AUTOMATION_EXECUTION_ENDED' // 409: This execution has ended.
  | 'AUTOMATION_EXECUTION_NOT_RETRYABLE' // 409: Only an execution that failed or was canceled can be retried.
  | 'AUTOMATION_LIMIT_REACHED' // 409: An organization has at most 200 automations. Delete one first.
  | 'AUTOMATION_PAUSED' // 409: This automation is paused. Set its status to active first.
  | 'BUSINESS_AGREEMENT_REQUIRED' // 403: An owner or admin must accept the business agreement first.
  | 'BUSINESS_IN_USE' // 409: The business has API keys or agents. Revoke, delete or move them first.
  | 'BUSINESS_LAST' // 409: The last business of an organization cannot be deleted.
  | 'CONTACT_EMAIL_EXISTS' // 409: The contact already has this address.
  | 'CONTACT_EMAIL_SHARED' // 409: Several contacts have this address. Change the one you mean by its id, or merge them.
  | 'CONTACT_MERGE_TOO_LARGE' // 409: Too many records name the contact that would go. Merge the other way round.
  | 'CONTACT_NOT_MERGED' // 409: This contact was not merged into the other, was restored since, or the merge is too old to be taken back.
  | 'CONTACT_ORGANIZATION_REQUIRED' // 422: This ending needs the contact's organizationName and jobTitle.
  | 'CREDIT_EXCEEDS_BALANCE' // 422: There is nothing left to credit.
  | 'CREDIT_NOTE_LIMIT_REACHED' // 409: An invoice has at most 100 credit notes.
  | 'DNS_ERROR' // 400: The DNS provider refused the change.
  | 'DNS_RECORD_CONFLICT' // 409: A CNAME record cannot stand beside other records of its name.
  | 'DNS_RECORD_EXISTS' // 409: The zone already has this record.
  | 'DNS_RECORD_MANAGED' // 409: This record is managed and cannot be changed here.
  | 'DNS_SPF_EXISTS' // 409: The name has an SPF record already.
  | 'DNS_ZONE_BUSY' // 409: Another change of this zone is under way. Retry in a moment.
  | 'DNS_ZONE_FULL' // 422: The zone has the maximum number of records.
  | 'DNS_ZONE_MISSING' // 409: This domain has no zone.
  | 'DOMAIN_AGREEMENTS_REQUIRED' // 403: An owner or admin must accept the domain agreements first.
  | 'DOMAIN_CONTACT_IN_USE' // 409: A registered domain uses this contact.
  | 'DOMAIN_EXISTS' // 409: The organization already has this domain.
  | 'DOMAIN_NESTING_UNSUPPORTED' // 409: The name is more than one label below a domain of the organization.
  | 'DOMAIN_NOT_VERIFIED' // 409: The TXT record was not found.
  | 'DOMAIN_PARENT_EXISTS' // 409: The organization has the domain above this name. Add it as a subdomain of that.
  | 'DOMAIN_SUBDOMAINS_EXIST' // 409: The domain has subdomains. Remove them first.
  | 'DOMAIN_UNAVAILABLE' // 409: This domain is not available.
  | 'EMAIL_OPT_IN_EXISTS' // 409: This address already has an opt-in. Change that one.
  | 'EMAIL_OPT_IN_REQUIRED' // 422: Marketing mail goes only to addresses that opted in.
  | 'EMAIL_TEMPLATE_ARCHIVED' // 409: An archived email template cannot be sent. Make it active first.
  | 'EMAIL_TEMPLATE_KEY_TAKEN' // 409: Another active email template has this key. Archive it first.
  | 'EMAIL_TEMPLATE_VARIABLE_MISSING' // 422: A variable of the template has no value and no default.
  | 'EXTERNAL_ID_TAKEN' // 409: Another record has this externalId.
  | 'FILE_HAS_NO_TEXT' // 422: The file has no text that can be read.
  | 'FOLDER_CYCLE' // 409: A folder cannot be moved into itself or a folder below it.
  | 'FOLDER_NOT_EMPTY' // 409: The folder is not empty. Move or delete its contents first.
  | 'IDEMPOTENCY_KEY_IN_FLIGHT' // 409: The first request with this Idempotency-Key is still running. Retry in a moment.
  | 'IDEMPOTENCY_KEY_REUSED' // 422: This Idempotency-Key was used for a different request. Use a new key.
  | 'IMPORT_FILE_INVALID' // 422: The file is neither CSV with a line of headings nor vCard.
  | 'IMPORT_LIMIT_REACHED' // 409: Three imports of the organization wait or run. Wait for one to end.
  | 'INSUFFICIENT_PERMISSIONS' // 403: This key may not do that.
  | 'INTERNAL_ERROR' // 500: Something went wrong on our side. The request id names the attempt in our logs.
  | 'INVALID_BUSINESS_ID' // 400: The business id is not a UUID.
  | 'INVALID_CONTACT_ID' // 400: The contact id is not a UUID.
  | 'INVALID_INPUT' // 400: The request is not valid.
  | 'INVALID_MESSAGE_ID' // 400: The message id is not a UUID.
  | 'INVOICE_CUSTOMER_DELETED' // 409: The customer of this invoice was deleted. Give the draft another one first.
  | 'INVOICE_EMPTY' // 409: An invoice needs a line item to be issued. Add line items to the draft first.
  | 'INVOICE_NOT_CREDITABLE' // 409: A draft or void invoice cannot be credited.
  | 'INVOICE_NOT_DRAFT' // 409: Only a draft can be changed or deleted. Void this invoice and create a new one.
  | 'INVOICE_NOT_PAYABLE' // 409: A draft or void invoice cannot be paid.
  | 'INVOICE_RECIPIENT_MISSING' // 422: The invoice has no billToEmail. Set to to an address.
  | 'INVOICE_REMINDER_EXISTS' // 409: The business already reminds of its invoices on that day.
  | 'INVOICE_REMINDER_LIMIT_REACHED' // 409: A business has at most 10 reminders.
  | 'INVOICE_TOO_LONG' // 422: The descriptions, notes and terms of this invoice fill more than 400 pages. Make them shorter.
  | 'INVOICE_TRANSITION_INVALID' // 409: The invoice cannot make this move.
  | 'MESSAGE_CONTACT_EXISTS' // 409: The contact is already linked to the message in this role.
  | 'MESSAGE_FILE_MISSING' // 409: A file of the message was deleted.
  | 'MESSAGE_LOOP' // 409: An automation does not answer mail that a machine wrote.
  | 'MESSAGE_NOT_DRAFT' // 409: Only a draft can be changed or deleted.
  | 'MESSAGE_TOO_LARGE' // 422: The attachments of the message are too large.
  | 'MESSAGE_TRANSITION_INVALID' // 409: The message cannot change to this status.
  | 'MISSING_QUERY' // 400: A required query parameter is missing.
  | 'NOTHING_TO_UNDO' // 404: Nothing was found that could be undone.
  | 'NOT_FOUND' // 404: There is no such resource.
  | 'OUTCOME_UNKNOWN' // 503: It may have happened. Repeat it only with the same Idempotency-Key, or look first.
  | 'PAYLOAD_TOO_LARGE' // 413: The request body is too large.
  | 'PAYMENT_EXCEEDS_BALANCE' // 422: The payment exceeds the amount due.
  | 'PAYMENT_FAILED' // 402: The card was not charged.
  | 'PAYMENT_METHOD_REQUIRED' // 402: There is no default card. An owner or admin saves one in the console.
  | 'PAYMENT_REFUNDED' // 409: Some of the payment was refunded, so it cannot be voided. Refund the rest instead.
  | 'PAYMENT_VOIDED' // 409: The payment is already void.
  | 'PLACE_TAKEN' // 409: Something else has taken its place. Change or delete that first.
  | 'PREMIUM_DOMAIN_NOT_SUPPORTED' // 422: Names with a premium price are not offered.
  | 'PRICE_EXCEEDS_MAXIMUM' // 409: The price is above maxAmountCents. Nothing was charged.
  | 'PROPERTY_KEY_TAKEN' // 409: Another property definition of this object type has this key.
  | 'PROPERTY_VALUE_CONFLICT' // 409: The property was changed at the same time. Read it again and decide again.
  | 'PROPERTY_VALUE_NOT_CONFIRMED' // 409: Only a confirmed property value can be replaced.
  | 'PROPERTY_VALUE_TRANSITION_INVALID' // 409: The property value cannot change to this status.
  | 'PROPOSAL_BECAME_PENDING' // 409: You may no longer do all of this alone, so a person must decide it now. The details have the link.
  | 'PROPOSAL_LIMIT_REACHED' // 409: 200 proposals wait for a decision already. Wait until some are decided, or cancel some.
  | 'PROPOSAL_NEEDS_APPROVAL' // 403: A person must approve this proposal in the console.
  | 'PROPOSAL_NOT_OPEN' // 409: This proposal can no longer be decided or carried out.
  | 'PROPOSAL_STALE' // 409: Something changed since the proposal was shown, so it was not carried out. Propose it anew.
  | 'PROPOSAL_STEP_REFUSED' // 409: A step would be refused. The details say which, and with what.
  | 'PROPOSAL_TOO_LARGE' // 422: The steps have more than 1000 effects. Propose them in several parts.
  | 'PROPOSAL_TOO_SLOW' // 409: The rehearsal took longer than others can wait for it. Propose the steps in smaller parts.
  | 'RANGE_NOT_SATISFIABLE' // 416: The file has no such range of bytes.
  | 'RATE_LIMITED' // 429: Too many requests. Wait for the time in Retry-After.
  | 'REFUND_EXCEEDS_PAYMENT' // 422: The refund exceeds what is left of the payment.
  | 'REGISTERED_DOMAIN_DNS_NOT_EMPTY' // 409: The zone still has records. Remove them first.
  | 'REGISTERED_DOMAIN_LOCKED' // 409: The transfer lock is on. Turn transferLock off first.
  | 'REGISTERED_DOMAIN_NOT_EXPIRED' // 409: A registered domain can be deleted once it has expired.
  | 'REGISTERED_DOMAIN_RENEWAL_IN_FLIGHT' // 409: A renewal of this domain is queued or running.
  | 'REGISTERED_DOMAIN_TRANSFER_IN_FLIGHT' // 409: A transfer to another registrar is under way.
  | 'REGISTRAR_UNSUPPORTED_OPERATION' // 422: This is not possible for this domain.
  | 'SERVICE_UNAVAILABLE' // 503: The service is briefly unavailable. Retry in a moment.
  | 'STATEMENT_TOO_LONG' // 422: There is too much for one statement in this time. Choose a shorter one.
  | 'STORAGE_LIMIT_REACHED' // 413: The organization has used all the storage of its plan.
  | 'TASK_ASSIGNEE_EXISTS' // 409: The task is already assigned to this user.
  | 'UNAUTHORIZED' // 401: The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".
  | 'VALIDATION_ERROR' // 400: The request body is not valid.
  | 'VERSION_MISMATCH' // 412: It was changed since you read it. Get it again, and send its new ETag in If-Match.
  | 'WEBHOOK_LIMIT_REACHED' // 409: An organization has at most 100 webhooks. Delete one first.

/** Every kind of event that a webhook is told of. */
export type EventType =
  | 'agent.activated'
  | 'agent.connected'
  | 'agent.created'
  | 'agent.deactivated'
  | 'agent.deleted'
  | 'agent.disconnected'
  | 'agent.moved'
  | 'agent.updated'
  | 'agreement.accepted'
  | 'api_key.created'
  | 'api_key.revoked'
  | 'automation.created'
  | 'automation.deleted'
  | 'automation.restored'
  | 'automation.updated'
  | 'automation_execution.canceled'
  | 'automation_execution.created'
  | 'automation_execution.failed'
  | 'automation_execution.retried'
  | 'business.created'
  | 'business.deleted'
  | 'business.invoice_reminder.created'
  | 'business.invoice_reminder.deleted'
  | 'business.offering.created'
  | 'business.offering.deleted'
  | 'business.offering.updated'
  | 'business.online_presence.created'
  | 'business.online_presence.deleted'
  | 'business.online_presence.updated'
  | 'business.physical_presence.created'
  | 'business.physical_presence.deleted'
  | 'business.physical_presence.updated'
  | 'business.profile.updated'
  | 'business.property.created'
  | 'business.property.deleted'
  | 'business.property.updated'
  | 'business.restored'
  | 'business.updated'
  | 'contact.address.created'
  | 'contact.address.deleted'
  | 'contact.address.updated'
  | 'contact.created'
  | 'contact.deleted'
  | 'contact.email.created'
  | 'contact.email.deleted'
  | 'contact.email.updated'
  | 'contact.erased'
  | 'contact.merged'
  | 'contact.note.created'
  | 'contact.note.deleted'
  | 'contact.note.updated'
  | 'contact.phone_number.created'
  | 'contact.phone_number.deleted'
  | 'contact.phone_number.updated'
  | 'contact.property.created'
  | 'contact.property.deleted'
  | 'contact.property.updated'
  | 'contact.restored'
  | 'contact.unmerged'
  | 'contact.updated'
  | 'customer.created'
  | 'customer.deleted'
  | 'customer.property.created'
  | 'customer.property.deleted'
  | 'customer.property.updated'
  | 'customer.restored'
  | 'customer.transaction.created'
  | 'customer.updated'
  | 'domain.created'
  | 'domain.deleted'
  | 'domain.dns_record.created'
  | 'domain.dns_record.deleted'
  | 'domain.dns_record.updated'
  | 'domain.email.created'
  | 'domain.email.deleted'
  | 'domain.email.updated'
  | 'domain.expired'
  | 'domain.renewal_failed'
  | 'domain.renewed'
  | 'domain.subdomain.created'
  | 'domain.subdomain.deleted'
  | 'domain.transfer_canceled'
  | 'domain.transfer_requested'
  | 'domain.transferred'
  | 'domain.unverified'
  | 'domain.updated'
  | 'domain.verified'
  | 'domain_contact.created'
  | 'domain_contact.deleted'
  | 'domain_contact.restored'
  | 'domain_contact.updated'
  | 'email_opt_in.created'
  | 'email_opt_in.deleted'
  | 'email_opt_in.restored'
  | 'email_opt_in.updated'
  | 'email_template.created'
  | 'email_template.deleted'
  | 'email_template.restored'
  | 'email_template.updated'
  | 'file.access_link.created'
  | 'file.access_link.deleted'
  | 'file.access_link.downloaded'
  | 'file.created'
  | 'file.deleted'
  | 'file.restored'
  | 'file.updated'
  | 'folder.created'
  | 'folder.deleted'
  | 'folder.restored'
  | 'folder.updated'
  | 'import.created'
  | 'import.failed'
  | 'import.succeeded'
  | 'invite.accepted'
  | 'invite.created'
  | 'invite.revoked'
  | 'invoice.created'
  | 'invoice.credit_note.created'
  | 'invoice.deleted'
  | 'invoice.issued'
  | 'invoice.overdue'
  | 'invoice.paid'
  | 'invoice.payment.created'
  | 'invoice.payment.refunded'
  | 'invoice.payment.voided'
  | 'invoice.reminded'
  | 'invoice.restored'
  | 'invoice.sent'
  | 'invoice.updated'
  | 'invoice.voided'
  | 'message.attachment.created'
  | 'message.attachment.deleted'
  | 'message.bounced'
  | 'message.canceled'
  | 'message.contact.created'
  | 'message.contact.deleted'
  | 'message.created'
  | 'message.deleted'
  | 'message.failed'
  | 'message.queued'
  | 'message.received'
  | 'message.scheduled'
  | 'message.sent'
  | 'message.updated'
  | 'operation.created'
  | 'operation.failed'
  | 'operation.started'
  | 'operation.succeeded'
  | 'organization.agents_paused'
  | 'organization.agents_resumed'
  | 'organization.created'
  | 'organization.exported'
  | 'organization.updated'
  | 'payment_method.created'
  | 'payment_method.deleted'
  | 'payment_method.setup_started'
  | 'payment_method.updated'
  | 'property_definition.created'
  | 'property_definition.deleted'
  | 'property_definition.restored'
  | 'property_definition.updated'
  | 'proposal.approved'
  | 'proposal.canceled'
  | 'proposal.created'
  | 'proposal.executed'
  | 'proposal.expired'
  | 'proposal.failed'
  | 'proposal.rejected'
  | 'proposal.stale'
  | 'proposal.updated'
  | 'session.confirmed'
  | 'session.created'
  | 'session.deleted'
  | 'session.switched'
  | 'task.activity.created'
  | 'task.assignee.created'
  | 'task.assignee.deleted'
  | 'task.created'
  | 'task.deleted'
  | 'task.restored'
  | 'task.updated'
  | 'thread.note.created'
  | 'thread.note.deleted'
  | 'thread.updated'
  | 'user.created'
  | 'user.disabled'
  | 'user.enabled'
  | 'user.factor_added'
  | 'user.factor_removed'
  | 'user.factors_reset'
  | 'user.identity_linked'
  | 'user.identity_unlinked'
  | 'user.notices_changed'
  | 'user.password_changed'
  | 'user.password_link_created'
  | 'user.password_reset'
  | 'user.push_added'
  | 'user.push_removed'
  | 'user.recovery_code_used'
  | 'user.recovery_codes_created'
  | 'user.removed'
  | 'user.review_mail_changed'
  | 'user.rights_changed'
  | 'user.role_changed'
  | 'user.sign_in_link_created'
  | 'user.signature_changed'
  | 'view.created'
  | 'view.deleted'
  | 'view.restored'
  | 'view.updated'
  | 'webhook.created'
  | 'webhook.deleted'
  | 'webhook.delivery.redelivered'
  | 'webhook.disabled'
  | 'webhook.restored'
  | 'webhook.secret_rotated'
  | 'webhook.tested'
  | 'webhook.updated'

export interface Accepted {
  operationId: string
  status: 'queued'
  domain: string
}

export interface AccessLink {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  fileId: string
  /** Null means never. */
  expiresAt: string | null
  /** Null means unlimited. */
  maxDownloads: number | null
  downloadCount: number
  /** The public address, shown once, on creation. */
  url: string | null
}

export interface Address {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  contactId: string
  line1: string
  line2: string | null
  city: string | null
  state: string | null
  postalCode: string | null
  /** ISO 3166, two letters. */
  country: string | null
  label: string | null
  isPrimary: boolean
}

export interface AddressFields {
  line1: string
  line2?: string | null
  city?: string | null
  state?: string | null
  postalCode?: string | null
  /** ISO 3166, two letters. */
  country?: string | null
  label?: string | null
  isPrimary?: boolean | null
}

export interface Attempt {
  /** When it began. */
  attemptedAt: string
  url: string | null
  /** Null while under way, and when the service stopped during it. */
  durationMs: number | null
  responseStatus: number | null
  responseBody: string | null
  errorMessage: string | null
}

export interface Authentication {
  /** Whether the sending server may send for the return path. */
  spf: 'pass' | 'fail' | 'none'
  /** Whether a signature holds, by any domain. */
  dkim: 'pass' | 'fail' | 'none'
  /** Whether one of them speaks for the domain of from. */
  dmarc: 'pass' | 'fail' | 'none'
}

export interface Automation {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  name: string
  description: string | null
  status: 'active' | 'paused'
  trigger: Trigger
  /** CEL over event, input: event.data.x == 1. */
  condition: string | null
  steps: Step[]
  /** For an active schedule. */
  nextRunAt: string | null
  /** Who last changed the steps. */
  makerKind: 'user' | 'agent' | 'api' | 'automation' | 'system'
  makerId: string | null
}

export interface AutomationOptions {
  /** What a trigger can name. */
  events: EventOption[]
  /** What a step can call. */
  operations: OperationOption[]
  /** How a step's input names values. */
  placeholders: Placeholder[]
}

export interface Balance {
  customerId: string
  /** One for each currency of the customer's transactions. */
  balances: CurrencyBalance[]
}

export interface BatchResult<T = unknown> {
  status: number
  /** The row, as GET returns it. */
  data?: T
  /** Why nothing was done with it. */
  error?: Record<string, unknown>
}

export interface Business {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  name: string
  legalName: string | null
  description: string | null
  industry: string | null
  /** An IANA name, like Europe/Berlin. */
  timezone: string
  locale: string
  currency: string
  logoFileId: string | null
  /** Of documents and mail, like #1f4e79. */
  accentColor: string | null
  /** How to pay, in words, on invoices. */
  paymentInstructions: string | null
  bankName: string | null
  /** Printed on unpaid invoices. */
  iban: string | null
  bic: string | null
}

export interface BusinessOffering {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  businessId: string
  currency: string
  name: string
  kind: 'product' | 'service' | null
  description: string | null
  /** In the smallest unit; null without a fixed price. */
  priceCents: number | null
  /** What the price is for, for example hour. */
  unit: string | null
  /** Per cent, 0 to 100, like 20 or 7.5. */
  taxRate: string | null
  /** As an invoice shall call the tax: VAT. */
  taxName: string | null
  isActive: boolean
}

export interface BusinessOnlinePresence {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  businessId: string
  kind: 'website' | 'facebook' | 'instagram' | 'linkedin' | 'x' | 'youtube' | 'tiktok' | 'google_business' | 'other'
  url: string
  /** The name there, for example @engines. */
  handle: string | null
  description: string | null
}

export interface BusinessPhysicalPresence {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  businessId: string
  name: string
  description: string | null
  address: string | null
}

export interface BusinessProfile {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  businessId: string
  tagline: string | null
  about: string | null
  mission: string | null
  /** How the business wants to sound. */
  toneOfVoice: string | null
  audience: string | null
  foundedOn: string | null
  taxId: string | null
  email: string | null
  phone: string | null
  website: string | null
}

export interface BusinessWithProperties {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  name: string
  legalName: string | null
  description: string | null
  industry: string | null
  /** An IANA name, like Europe/Berlin. */
  timezone: string
  locale: string
  currency: string
  logoFileId: string | null
  /** Of documents and mail, like #1f4e79. */
  accentColor: string | null
  /** How to pay, in words, on invoices. */
  paymentInstructions: string | null
  bankName: string | null
  /** Printed on unpaid invoices. */
  iban: string | null
  bic: string | null
  /** With include=properties. */
  properties?: Property[] | null
}

export interface Colleague {
  /** The user. */
  id: string
  name: string
  email: string
  role: 'owner' | 'admin' | 'member'
  /** Buy, renew, switch renewal on and save cards; owners and admins always. */
  maySpend: boolean
  /** Decide what agents propose; owners and admins always. */
  mayApprove: boolean
  /** As a key has them; owners and admins have * always. */
  permissions: string[]
}

export interface Column {
  heading: string
  /** Null when it is not used. */
  field: string | null
  /** Its first values. */
  samples: string[]
  /** Records that have a value. */
  filled: number
  /** Records that are refused for it. */
  refused: number
}

export interface Contact {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  firstName: string | null
  middleName: string | null
  lastName: string | null
  /** Before the name: Dr. */
  prefix: string | null
  /** After the name: Jr. */
  suffix: string | null
  organizationName: string | null
  jobTitle: string | null
  birthday: string | null
  notes: string | null
  /** What another system calls it; unique. */
  externalId: string | null
  /** A change replaces all. */
  tags: string[]
  /** The later of the two. */
  lastMessageAt: string | null
  /** When they last wrote. */
  lastInboundAt: string | null
  /** When they were last written to. */
  lastOutboundAt: string | null
  emails: Email[]
  phoneNumbers: PhoneNumber[]
  addresses: Address[]
  /** With include=properties. */
  properties?: Property[] | null
}

export interface ContactNote {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  contactId: string
  /** The user, also behind a key or agent; null if unknown. */
  createdBy: string | null
  createdByAgent: boolean
  body: string
  /** Call: by phone. */
  kind: 'note' | 'call'
}

export interface ContactRowInput {
  /** The contact. */
  id?: string
  firstName?: string | null
  middleName?: string | null
  lastName?: string | null
  /** Before the name: Dr. */
  prefix?: string | null
  /** After the name: Jr. */
  suffix?: string | null
  organizationName?: string | null
  jobTitle?: string | null
  birthday?: string | null
  notes?: string | null
  /** What another system calls it; unique. */
  externalId?: string | null
  /** A change replaces all. */
  tags?: string[]
  emails?: EmailFields[]
  phoneNumbers?: PhoneNumberFields[]
  addresses?: AddressFields[]
  /** With id alone: delete this row. */
  delete?: boolean
}

export interface Counts {
  /** Records in the file, without empty lines. */
  total: number
  /** The sum of those below. */
  processed: number
  created: number
  updated: number
  /** As the file says already. */
  unchanged: number
  failed: number
}

export interface CreditLineFields {
  /** A line item of the invoice. */
  lineItemId: string
  /** Or amountCents; without both, all that is left. */
  quantity?: string | null
  /** Of the line's amount after its discount. */
  amountCents?: number | null
}

export interface CreditNote {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  invoiceId: string
  businessId: string
  /** Per business and without gaps. */
  creditNoteNumber: string
  currency: string
  reason: string | null
  pricesIncludeTax: boolean
  /** Sum of the lines. */
  subtotalCents: number
  /** The part of the invoice's discount. */
  discountCents: number
  /** Sum of the taxes. */
  taxCents: number
  taxes: Tax[]
  /** What is credited. */
  totalCents: number
  lineItems: CreditNoteLine[]
}

export interface CreditNoteLine {
  /** The line item of the invoice. */
  lineItemId: string
  description: string
  /** Null if only an amount was credited. */
  quantity: string | null
  /** Before the invoice's discount; before tax unless prices include it. */
  amountCents: number
  taxRate: string | null
  taxName: string | null
}

export interface CurrencyBalance {
  currency: string
  /** In the currency's smallest unit; negative is credit. */
  balanceCents: number
}

export interface CurrencyTotal {
  currency: string
  /** How many invoices. */
  count: number
  totalCents: number
  /** Still to be paid of issued ones. */
  amountDueCents: number
  /** Paid and credited above the total, to be paid back. */
  amountToRefundCents: number
}

export interface Customer {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  businessId: string
  contactId: string | null
  type: 'individual' | 'business'
  name: string
  email: string | null
  phone: string | null
  notes: string | null
  status: 'prospect' | 'active' | 'inactive'
  customerSince: string | null
  /** A change replaces all. */
  tags: string[]
  /** What another system calls it. */
  externalId: string | null
  /** With include=properties. */
  properties?: Property[] | null
}

export interface CustomerRowInput {
  /** The customer. */
  id?: string
  businessId?: string
  contactId?: string | null
  type?: 'individual' | 'business'
  name?: string
  email?: string | null
  phone?: string | null
  notes?: string | null
  status?: 'prospect' | 'active' | 'inactive'
  customerSince?: string | Date | null
  /** A change replaces all. */
  tags?: string[]
  externalId?: string | null
  /** With id alone: delete this row. */
  delete?: boolean
}

export interface DNSRecord {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  domainId: string
  /** A, AAAA, CAA, CNAME, MX, NS, SOA, SRV, TXT, or others made at the provider. */
  type: string
  /** Relative to the zone; @ is the apex. */
  name: string
  /** TXT unquoted, hosts without final dot, SRV: weight port host. */
  content: string
  /** In seconds; records of one name and type share it. */
  ttl: number
  /** Of MX and SRV. */
  priority: number | null
  /** Only records of user can be changed here. */
  managedBy: 'user' | 'email' | 'system'
}

export interface Daily {
  limits: Limits
  used: Use
  /** Midnight in the timezone of the business. */
  resetsAt: string
}

export interface Delivery {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  webhookId: string
  /** The webhook-id header; the same in every attempt. */
  eventId: string
  eventType: string
  status: 'pending' | 'retrying' | 'succeeded' | 'failed' | 'canceled'
  /** How often it was sent. */
  attempts: number
  /** Where the last attempt went. */
  url: string | null
  /** When the last attempt began. */
  attemptedAt: string | null
  nextAttemptAt: string | null
  /** When it succeeded or was given up. */
  completedAt: string | null
  /** How long the last attempt took. */
  durationMs: number | null
  /** Null without an answer. */
  responseStatus: number | null
  /** The first 2 KB. */
  responseBody: string | null
  /** Why the last attempt failed. */
  errorMessage: string | null
  /** Null when the event was erased. */
  requestBody: string | null
  /** The latest attempts, at most eleven, oldest first. */
  history: Attempt[] | null
}

export interface Domain {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  /** Lower-case ASCII; other scripts in their xn-- form. */
  name: string
  /** The name as people read it. */
  unicodeName: string
  kind: 'apex' | 'subdomain'
  /** Of a subdomain. */
  parentDomainId: string | null
  /** Only general gets mail. */
  purpose: 'general' | 'transactional' | 'marketing'
  status: 'pending_verification' | 'active' | 'expired' | 'transferred'
  source: 'registered' | 'external'
  /** Null for registered domains and subdomains. */
  verification: Verification | null
  email: DomainEmail
  /** Null unless it was registered here. */
  registration: Registration | null
}

export interface DomainContact {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  /** Kept here alone. */
  label: string | null
  firstName: string
  lastName: string
  /** Required for names under .ai, .co, .io and .me. */
  organizationName: string | null
  /** Required with organizationName. */
  jobTitle: string | null
  /** Street. */
  address1: string
  address2: string | null
  city: string
  stateProvince: string
  postalCode: string
  /** ISO 3166, two letters. */
  country: string
  email: string
  /** E.164, or a number of the country. */
  phone: string
}

export interface DomainEmail {
  enabled: boolean
  /** Null without email. */
  mode: 'full' | 'sending' | null
  /** Of the RSA key; fd-ed25519 is the other key's. */
  dkimSelector: string | null
  /** Custom is your own record; null without email. */
  spf: 'published' | 'custom' | 'missing' | null
  dkim: 'published' | 'custom' | 'missing' | null
  dmarc: 'published' | 'custom' | 'missing' | null
}

export interface Duplicate {
  /** What they share. */
  reason: 'email' | 'phone' | 'name'
  /** The address, the number or the name, folded. */
  value: string
  /** At most 100. */
  contactIds: string[]
  /** The oldest first, at most 10. */
  contacts: Contact[]
}

export interface Effect {
  /** The step's place in steps, from 0. */
  step: number
  kind: 'create' | 'update' | 'delete' | 'send' | 'charge' | 'publish' | 'call'
  resourceType: string
  /** Null for what does not exist yet. */
  resourceId: string | null
  summary: string
  /** Former values of what changes. */
  before: Record<string, unknown>
  /** New values; new:1 names a new record. */
  after: Record<string, unknown>
  amountCents: number | null
  currency: string | null
  recipients: string[]
  /** The automations and webhooks that would hear of it. */
  triggers: EffectTrigger[]
  /** False for what cannot be rehearsed. */
  rehearsed: boolean
  /** Its maker is shown no more until a person has approved it. */
  withheld: boolean
}

export interface EffectTrigger {
  kind: 'automation' | 'webhook'
  id: string
  name: string
}

export interface Email {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  contactId: string
  email: string
  label: string | null
  isPrimary: boolean
}

export interface EmailFields {
  email: string
  label?: string | null
  isPrimary?: boolean | null
}

export interface EmailOptIn {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  email: string
  contactId: string | null
  status: 'pending' | 'opted_in' | 'opted_out'
  /** Where the consent came from. */
  source: string | null
  /** The last opt-in; kept when the address opts out. */
  optedInAt: string | null
  /** Null unless opted_out. */
  optedOutAt: string | null
}

export interface EmailRecord {
  type: 'MX' | 'TXT'
  /** The full name. */
  name: string
  /** Without quotes. */
  content: string
  /** Of MX. */
  priority: number | null
  state: 'found' | 'missing' | 'wrong'
  /** What the DNS has there; MX with the priority before it. */
  seen: string[]
  /** What to do about it, or what the DNS answered; null if found. */
  problem: string | null
}

export interface EmailSetup {
  domainId: string
  name: string
  enabled: boolean
  /** Null without email. */
  mode: 'full' | 'sending' | null
  /** None without email. */
  records: EmailRecord[]
}

export interface EmailTemplate {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  /** The user, also behind a key or agent; null if unknown. */
  createdBy: string | null
  createdByAgent: boolean
  name: string
  description: string | null
  /** With placeholders. */
  subject: string
  /** With placeholders like {{ customer.name }}. */
  body: string
  bodyFormat: 'markdown' | 'html'
  status: 'active' | 'archived'
  templateKey: 'invoice' | 'invoice_reminder' | 'payment_receipt' | null
  /** Names in the placeholders of subject and body, sorted. */
  variables: string[]
}

export interface Event {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  /** What happened, for example contact.created. */
  type: string
  /** The kind of resource, for example contact. */
  resourceType: string
  resourceId: string
  actorKind: 'user' | 'agent' | 'api' | 'automation' | 'system'
  /** The user, agent, API key or automation; null for the service itself. */
  actorId: string | null
  /** How the caller came in. */
  door: 'rest' | 'agent' | 'automation' | 'console' | 'admin' | 'system'
  /** The request that caused it. */
  requestId: string
  /** The resource as GET returned it right after. */
  data: unknown
  /** Former values of what changed; null for creations. */
  previous: unknown
  /** The proposal that was carried out. */
  proposalId: string | null
  /** The user who approved that proposal. */
  approvedBy: string | null
}

export interface EventOption {
  type: string
  /** Of its data. */
  fields: string[]
}

export interface Execution {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  automationId: string
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'skipped'
  /** What started it. */
  trigger: 'event' | 'schedule' | 'manual'
  /** The event that started it. */
  eventId: string | null
  eventType: string | null
  /** What run was given; scheduledAt for a schedule. */
  input: Record<string, unknown>
  /** The steps that have begun. */
  steps: StepRun[]
  startedAt: string | null
  completedAt: string | null
  errorMessage: string | null
}

export interface File {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  name: string
  /** Detected from the bytes. */
  contentType: string
  sizeBytes: number
  /** Of the bytes, in hex. */
  sha256: string
  /** Null for none. */
  folderId: string | null
}

export interface FileText {
  fileId: string
  name: string
  contentType: string
  text: string
  /** Where the text begins, in characters. */
  offset: number
  /** Where it goes on; null at the end. */
  nextOffset: number | null
  /** Of the whole text. */
  characters: number
}

export interface Folder {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  name: string
  parentFolderId: string | null
}

export interface Import {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  objectType: 'contacts' | 'customers'
  fileName: string
  status: 'receiving' | 'queued' | 'running' | 'succeeded' | 'failed'
  /** Nothing was stored, and id names nothing. */
  dryRun: boolean
  counts: Counts
  /** The first 1,000 by line; in a list the first 10. */
  errors: Issue[]
  /** Columns of the file that were not used. */
  ignoredColumns: string[]
  /** Why it failed as a whole. */
  errorMessage: string | null
  completedAt: string | null
  /** Of a dry run: what 1,000 lines would do. */
  lines?: Line[] | null
  /** Of a dry run of a CSV. */
  columns?: Column[] | null
}

export interface Invoice {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  businessId: string
  customerId: string | null
  status: 'draft' | 'issued' | 'sent' | 'partially_paid' | 'paid' | 'overdue' | 'void'
  /** Assigned on issue, per business and without gaps. */
  invoiceNumber: string | null
  billToName: string | null
  billToEmail: string | null
  billToAddressLine1: string | null
  billToAddressLine2: string | null
  billToCity: string | null
  billToState: string | null
  billToPostalCode: string | null
  billToCountry: string | null
  /** Taken from all lines, after their own discounts. */
  discountPercent: string | null
  /** Whether unitAmountCents includes the tax. */
  pricesIncludeTax: boolean
  /** Sum of the lines, before discounts. */
  subtotalCents: number
  /** All discounts, of lines and of the invoice. */
  discountCents: number
  /** Sum of the taxes. */
  taxCents: number
  /** One for each rate and name. */
  taxes: Tax[]
  /** Subtotal less discount, with the taxes. */
  totalCents: number
  /** TotalCents, in the currency's smallest unit. */
  totalAmountCents: number
  /** Payments that are not void, less refunds. */
  amountPaidCents: number
  /** The sum of the credit notes. */
  amountCreditedCents: number
  /** Still to be paid; 0 on a void invoice. */
  amountDueCents: number
  /** Paid and credited above the total. */
  amountToRefundCents: number
  currency: string
  issuedAt: string | null
  sentAt: string | null
  dueAt: string | null
  overdueAt: string | null
  notes: string | null
  terms: string | null
  /** Anything the caller wants to keep with the invoice. */
  data: Record<string, unknown>
  lineItems: LineItem[]
  /** Include=customer; null if deleted. */
  customer?: Customer | null
  /** To agents that sent it: the mail. */
  message?: InvoiceMail | null
}

export interface InvoiceMail {
  id: string
  to: string[]
  subject: string
  status: 'scheduled' | 'queued'
  scheduledAt: string | null
}

export interface Issue {
  /** Where the record begins, from 1. */
  line: number
  /** Null when it is about the whole record. */
  field: string | null
  message: string
  /** What the record says, unless it is long. */
  values?: Value[]
}

export interface Kept {
  resourceType: string
  resourceId: string
  /** Empty for the whole record. */
  field: string
  why: string
}

export interface LeftOutStep {
  /** Its place in the whole plan, from 0. */
  position: number
  operation: string
  /** The whole input, path fields included. */
  input: Record<string, unknown>
  saveAs: string | null
}

export interface Limits {
  /** Cents charged. */
  spendCents: number | null
  /** Mails sent. */
  messages: number | null
  /** Addresses that the organization never wrote to before. */
  newRecipients: number | null
  deletions: number | null
  dnsChanges: number | null
}

export interface Line {
  line: number
  action: 'create' | 'update' | 'unchanged' | 'fail'
  /** The record that it would change. */
  id: string | null
  /** What it says, by field. */
  values: Value[]
}

export interface LineItem {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  invoiceId: string
  description: string
  /** A decimal without trailing zeros. */
  quantity: string
  /** In the currency's smallest unit; negative is a discount. */
  unitAmountCents: number
  /** Quantity times unitAmountCents, rounded half away from zero. */
  amountCents: number
  currency: string
  /** Starts at 0. */
  position: number
  /** Per cent; null is no tax. */
  taxRate: string | null
  taxName: string | null
  /** Null unless it was given in per cent. */
  discountPercent: string | null
  /** Taken from amountCents. */
  discountCents: number
}

export interface LineItemFields {
  description: string
  /** 12 digits before the point, 6 after; default 1. */
  quantity?: string | null
  /** Negative: discount. */
  unitAmountCents: number
  /** Per cent, 0 to 100, like 20 or 7.5; null is no tax. */
  taxRate?: string | null
  /** As the invoice shall call the tax: VAT. */
  taxName?: string | null
  /** Of this line, 0 to 100; or discountCents. */
  discountPercent?: string | null
  /** Of this line, at most its amount. */
  discountCents?: number | null
}

export interface LinkedContact {
  role: 'from' | 'to' | 'cc' | 'bcc' | 'mentioned'
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  firstName: string | null
  middleName: string | null
  lastName: string | null
  /** Before the name: Dr. */
  prefix: string | null
  /** After the name: Jr. */
  suffix: string | null
  organizationName: string | null
  jobTitle: string | null
  birthday: string | null
  notes: string | null
  /** What another system calls it; unique. */
  externalId: string | null
  /** A change replaces all. */
  tags: string[]
  /** The later of the two. */
  lastMessageAt: string | null
  /** When they last wrote. */
  lastInboundAt: string | null
  /** When they were last written to. */
  lastOutboundAt: string | null
  emails: Email[]
  phoneNumbers: PhoneNumber[]
  addresses: Address[]
  /** With include=properties. */
  properties?: Property[] | null
}

export interface Me {
  organization: MeOrganization
  business: MeBusiness
  plan: 'free' | 'starter' | 'professional' | 'enterprise'
  /** What the key may do, as <resource>:read and <resource>:write. */
  permissions: string[]
  actorKind: string
  actorId: string | null
  /** Of the business, an IANA name. */
  timezone: string
  /** Of the business, a BCP 47 tag. */
  locale: string
  /** Of the business, ISO 4217 in lower case. */
  currency: string
  /** The service's clock. */
  now: string
  /** An agent's allowance; null for others, whose headers tell it. */
  limits: MeLimits | null
  /** An agent's limits per day and what it has used; null for others. */
  daily: Daily | null
}

export interface MeBusiness {
  id: string
  name: string
}

export interface MeLimits {
  /** Tool calls of all agents of the organization together. */
  perMinute: number
  used: number
  remaining: number
  /** Until the whole allowance is back. */
  resetSeconds: number
}

export interface MeOrganization {
  id: string
  name: string
  status: string
}

export interface Merge {
  /** Nothing was changed. */
  dryRun: boolean
  /** The one that stays, with what it gained. */
  contact: Contact
  /** The one that stays, as it was. */
  before: Contact
  /** The one that was deleted, as it was. */
  merged: Contact
  /** Those of the contact that changed. */
  fields: string[]
  /** The records that name the contact now. */
  moved: MergedRows[]
}

export interface MergedRows {
  /** Customer, email, task and so on. */
  type: string
  ids: string[]
  /** Of these: no longer primary, or only suggested now. */
  changed: string[]
  /** Deleted, because the contact has the same. */
  dropped: string[]
}

export interface Message {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  direction: 'inbound' | 'outbound'
  status: 'draft' | 'scheduled' | 'queued' | 'sending' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'canceled' | 'received'
  purpose: 'transactional' | 'marketing'
  /** The same for a message and all its answers. */
  threadId: string
  /** The message it answers. */
  inReplyToId: string | null
  from: string
  /** The name beside from, of what is sent. */
  fromName: string | null
  replyTo: string | null
  to: string[]
  cc: string[]
  bcc: string[]
  subject: string
  text: string | null
  /** Sanitized: no scripts, forms or frames. */
  html: string | null
  /** The email template it was rendered from. */
  templateId: string | null
  /** The files of its attachments. */
  fileIds: string[]
  /** The invoices it is about; their PDFs are attached. */
  invoiceIds: string[]
  contactId: string | null
  customerId: string | null
  /** When to send it. */
  scheduledAt: string | null
  /** When it was sent; for a received message, as its headers say. */
  sentAt: string | null
  /** Why it was not sent, or not to everybody. */
  errorMessage: string | null
  /** True if a machine wrote or sent it, not a person. */
  autoSubmitted: boolean
  /** Of received mail: whether to believe from. */
  authentication: Authentication | null
  /** The letterhead of the business surrounds html. */
  letterhead: boolean
  /** With include=contacts. */
  contacts?: LinkedContact[] | null
}

export interface MessageAttachment {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  messageId: string
  /** Null once the file is purged. */
  fileId: string | null
  fileName: string
  contentType: string
  sizeBytes: number
}

export interface MessageContact {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  messageId: string
  contactId: string
  role: 'from' | 'to' | 'cc' | 'bcc' | 'mentioned'
}

export interface Notification {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  kind: 'mentioned' | 'assigned' | 'answered' | 'proposal' | 'invoice_paid' | 'payment_failed' | 'mail_failed' | 'backup_failed' | 'domain' | 'webhook'
  /** What it is about, for example thread. */
  resourceType: string
  resourceId: string
  /** Who did it. */
  actorKind: 'user' | 'agent' | 'api' | 'automation' | 'system'
  actorId: string | null
  actorName: string | null
  /** The name of what it is about, or what failed. */
  subject: string
  /** What was written, or why it failed. */
  text: string | null
  /** Null while it is unread. */
  readAt: string | null
}

export interface Operation {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  type: 'domain_registration' | 'domain_renewal'
  /** Poll until it is final. */
  status: 'queued' | 'running' | 'succeeded' | 'failed'
  /** Domain, on success. */
  resourceType: string | null
  /** The domain, on success. */
  resourceId: string | null
  resourceName: string
  workflowId: string
  /** The payment provider's id of the charge. */
  paymentIntentId: string | null
  errorCode: string | null
  /** Why it failed, and whether it was refunded. */
  errorMessage: string | null
  completedAt: string | null
}

export interface OperationOption {
  name: string
  summary: string
  /** Of its input. */
  fields: string[]
  /** Of these. */
  required: string[]
}

export interface OptInRowInput {
  /** The email opt-in. */
  id?: string
  email?: string
  contactId?: string | null
  status?: 'pending' | 'opted_in' | 'opted_out'
  /** Where the consent came from. */
  source?: string | null
  /** When it opted in; by default now, for opted_in. */
  optedInAt?: string | Date | null
  /** When it opted out; by default now, for opted_out. */
  optedOutAt?: string | Date | null
  /** With id alone: delete this row. */
  delete?: boolean
}

export interface Payment {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  invoiceId: string
  amountCents: number
  paidAt: string
  method: 'cash' | 'check' | 'bank_transfer' | 'card' | 'other'
  note: string | null
  /** When the payment was voided. */
  voidedAt: string | null
  /** How much of it was given back. */
  refundedCents: number
}

export interface PhoneNumber {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  contactId: string
  /** E.164, for example +14155550100. */
  phoneNumber: string
  /** The calling code, for example 44. */
  countryCode: string
  nationalNumber: string
  label: string | null
}

export interface PhoneNumberFields {
  /** E.164, or national with countryCode. */
  phoneNumber: string
  /** The calling code, for example 44. */
  countryCode?: string | null
  /** Checked against phoneNumber. */
  nationalNumber?: string | null
  label?: string | null
}

export interface Placeholder {
  syntax: string
  means: string
}

export interface Preview {
  /** How far back it looked. */
  since: string
  /** False: there was more to look at than one call does. */
  complete: boolean
  /** Events, or times of the schedule. */
  checked: number
  /** How often it would have run. */
  matched: number
  /** How often the condition could not be evaluated. */
  unclear: number
  /** Days on which something was checked, newest first, in UTC. */
  days: PreviewDay[]
  /** The newest runs, and those that the condition could not decide. */
  runs: RehearsedRun[]
  /** The newest of those for which the condition is false. */
  skipped: SkippedRun[]
}

export interface PreviewDay {
  date: string
  checked: number
  matched: number
}

export interface Property {
  key: string
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  definitionId: string
  valueType: 'text' | 'number' | 'boolean' | 'date' | 'url' | 'select' | 'multi_select'
  objectType: 'contact' | 'customer' | 'business'
  objectId: string
  /** For text, url or select. */
  valueText: string | null
  /** An exact decimal. */
  valueNumber: string | null
  valueBoolean: boolean | null
  valueDate: string | null
  /** For multi_select. */
  valueTextList: string[] | null
  status: 'suggested' | 'confirmed' | 'dismissed'
  setByKind: 'user' | 'agent' | 'api' | 'automation' | 'system'
  setByUserId: string | null
  setByAgentId: string | null
  sources: PropertyValueSource[]
}

export interface PropertyDefinition {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  objectType: 'contact' | 'customer' | 'business'
  /** Unique per object type. */
  key: string
  valueType: 'text' | 'number' | 'boolean' | 'date' | 'url' | 'select' | 'multi_select'
  name: string
  description: string | null
  /** Of a select or multi_select; others have none. */
  options: string[] | null
  /** Whether forms should ask for it; not enforced. */
  isRequired: boolean
}

export interface PropertySourceInput {
  url: string
  title?: string | null
}

export interface PropertyValue {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  definitionId: string
  valueType: 'text' | 'number' | 'boolean' | 'date' | 'url' | 'select' | 'multi_select'
  objectType: 'contact' | 'customer' | 'business'
  objectId: string
  /** For text, url or select. */
  valueText: string | null
  /** An exact decimal. */
  valueNumber: string | null
  valueBoolean: boolean | null
  valueDate: string | null
  /** For multi_select. */
  valueTextList: string[] | null
  status: 'suggested' | 'confirmed' | 'dismissed'
  setByKind: 'user' | 'agent' | 'api' | 'automation' | 'system'
  setByUserId: string | null
  setByAgentId: string | null
  sources: PropertyValueSource[]
}

export interface PropertyValueSource {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  valueId: string
  url: string
  title: string | null
}

export interface Proposal {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  title: string
  /** Why the maker wants it, in its own words. */
  reason: string | null
  status: 'planned' | 'pending' | 'approved' | 'executing' | 'executed' | 'failed' | 'rejected' | 'canceled' | 'expired' | 'stale'
  /** Why a person must decide; null when nobody must. */
  because: 'ask' | 'limit' | 'guard' | null
  becauseText: string | null
  /** At most 50; of an undo 500, or one, undo.create. */
  steps: ProposalStep[]
  /** Steps of the plan that a person left out; they are not done. */
  leftOut: LeftOutStep[]
  /** What the steps would do, or did. */
  effects: Effect[]
  /** Of an undo: what stays as it is, and why. */
  skipped: Skipped[]
  totals: ProposalTotals
  /** The first effect in a sentence. */
  summary: string
  /** How many effects it has; effects[] may show fewer. */
  effectsTotal: number
  /** Some is shown to its maker only once a person has approved it. */
  withheld: boolean
  /** Of a stale one: what is no longer as it was shown. */
  difference: string[]
  /** Of its canonical steps; another one once it was shown anew. */
  sha256: string
  makerKind: 'user' | 'agent' | 'api' | 'automation' | 'system'
  makerId: string | null
  agentId: string | null
  businessId: string
  expiresAt: string
  /** The person who approved or rejected it. */
  decidedBy: string | null
  decidedAt: string | null
  rejectionReason: string | null
  /** When it was carried out, or failed. */
  completedAt: string | null
  /** The proposal that this one changes. */
  replacesId: string | null
  /** The import that it takes back. */
  undoesImportId: string | null
  /** Where a person decides, after signing in. */
  approvalUrl: string
}

export interface ProposalStep {
  operation: string
  /** The whole input, path fields included. */
  input: Record<string, unknown>
  saveAs: string | null
  /** The answer's data; of a large undo events, done and kept. */
  result: unknown
  resultOmitted: boolean
  /** Its maker is shown no more until a person has approved it. */
  withheld: boolean
  error: StepError | null
  startedAt: string | null
  completedAt: string | null
}

export interface ProposalTotals {
  amountCents: number
  currency: string | null
  /** Recipients of mail. */
  mails: number
  deletions: number
}

export interface Quote {
  domain: string
  available: boolean
  periodYears: number
  /** The whole charge, with WHOIS privacy and no other fees. */
  amountCents: number
  currency: string
  premium: boolean
  /** The first year. */
  registrationPriceCents: number
  /** Each further year. */
  renewalPriceCents: number
}

export interface RegistrantInput {
  /** Kept here alone. */
  label?: string | null
  firstName: string
  lastName: string
  /** Required for names under .ai, .co, .io and .me. */
  organizationName?: string | null
  /** Required with organizationName. */
  jobTitle?: string | null
  /** Street. */
  address1: string
  address2?: string | null
  city: string
  stateProvince: string
  postalCode: string
  /** ISO 3166, two letters. */
  country: string
  email: string
  /** E.164, or a number of the country. */
  phone: string
}

export interface Registration {
  registrar: string
  registeredAt: string
  expiresAt: string
  /** Renews itself 30 days before expiresAt. */
  autoRenew: boolean
  transferLock: boolean
  /** Always true. */
  whoisPrivacy: boolean
  /** The domain contact that it is registered for. */
  contactId: string | null
  /** Of the email. */
  contactVerification: 'pending' | 'verified'
  /** To another registrar; null when there is none. */
  transfer: Transfer | null
}

export interface Rehearsal {
  /** One for each event, newest first. */
  runs: RehearsedRun[]
}

export interface RehearsedRun {
  eventId: string | null
  eventType: string | null
  /** Of the event. */
  createdAt: string | null
  /** Whether the condition holds. */
  runs: boolean
  /** Why the condition could not be evaluated. */
  errorMessage: string | null
  steps: RehearsedStep[]
}

export interface RehearsedStep {
  operation: string
  /** What the operation would receive. */
  input: unknown
  /** The input is too large to show. */
  inputOmitted: boolean
  /** Why the input could not be built. */
  errorMessage: string | null
}

export interface ReminderRule {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  businessId: string
  /** Days after dueAt; negative is before. */
  daysAfterDue: number
}

export interface Rendered {
  subject: string
  /** Sanitized: no scripts, forms or frames. */
  html: string
  /** The same as plain text. */
  text: string
}

export interface RenewalQuote {
  domainId: string
  domain: string
  periodYears: number
  /** The whole charge, with no other fees. */
  amountCents: number
  currency: string
  /** Each year. */
  renewalPriceCents: number
  /** When the registration ends now. */
  expiresAt: string
  /** When it would end. */
  renewedUntil: string
}

export interface Report {
  name: string
  /** Null for all of time. */
  from: string | null
  to: string
  groupBy: string
  /** One for each group and currency, at most limit. */
  rows: Row[]
  /** One for each currency, over all rows. */
  totals: Row[]
  /** Whether rows were left out; totals count them. */
  hasMore: boolean
}

export interface Row {
  /** Like 2026-03, 2026-W12 or 2026-Q1, an id, an age; null in totals. */
  group: string | null
  /** What people call it. */
  name: string | null
  currency?: string
  /** Of a tax, in per cent. */
  rate?: string | null
  /** Invoices; of mail, mails received; of agents, calls that changed something. */
  count?: number
  /** Of taxes, without the tax. */
  invoicedCents?: number | null
  /** Of taxes, without the tax. */
  receivedCents?: number | null
  /** Of taxes, without the tax. */
  creditedCents?: number | null
  amountDueCents?: number | null
  overdueCents?: number | null
  /** Invoiced, less credited. */
  taxCents?: number | null
  /** The tax in what was received. */
  receivedTaxCents?: number | null
  oldestDueAt?: string | null
  /** Mails that were answered. */
  answered?: number | null
  /** Threads that wait for an answer now. */
  waiting?: number | null
  /** Half of the answers took less. */
  medianMinutes?: number | null
  changes?: number | null
  proposals?: number | null
  approved?: number | null
  rejected?: number | null
  /** Of the daily limits, over the time. */
  used?: Use | null
}

export interface Search {
  query: string
  results: SearchResult[]
}

export interface SearchResult {
  status: 'ok' | 'unsupported_tld'
  domain: string
  /** It can be registered; a premium name cannot. */
  available?: boolean
  premium?: boolean
  /** First year, or null. */
  registrationPriceCents?: number | null
  /** A year, all in, or null. */
  renewalPriceCents?: number | null
}

export interface SeenValue {
  name: string
  /** Null also where there is none or it is too large. */
  value: unknown
}

export interface Skipped {
  resourceType: string
  resourceId: string | null
  /** Empty for the whole record. */
  field: string
  why: string
  /** What to do in its place: words, or a call. */
  instead: string | Record<string, unknown>
}

export interface SkippedRun {
  eventId: string | null
  eventType: string | null
  /** Of the event. */
  createdAt: string | null
  /** What the condition names, and its value. */
  saw: SeenValue[]
}

export interface Step {
  /** One that agents have, like tasks.create. */
  operation: string
  /** With path fields and {{ placeholders }}. */
  input: Record<string, unknown>
  /** Names answer for later steps. */
  saveAs: string | null
}

export interface StepError {
  code: string
  message: string
  /** As the API would give them. */
  details: unknown
}

export interface StepInput {
  /** One that agents have, like tasks.create. */
  operation: string
  /** With path fields and {{ placeholders }}. */
  input?: Record<string, unknown>
  /** Names answer for later steps. */
  saveAs?: string | null
}

export interface StepRun {
  operation: string
  /** With its placeholders filled in. */
  input: Record<string, unknown>
  /** Too large to keep, or the caller may not read it. */
  inputOmitted: boolean
  /** The answer's data. */
  output: unknown
  /** Too large to show, a secret, or not the caller's to read. */
  outputOmitted: boolean
  /** The refusal; while a step is retried, the last one. */
  error: StepError | null
  attempts: number
  startedAt: string
  completedAt: string | null
}

export interface Task {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  title: string
  description: string | null
  status: 'open' | 'in_progress' | 'completed' | 'canceled'
  priority: 'low' | 'normal' | 'high' | 'urgent'
  dueAt: string | null
  contactId: string | null
  customerId: string | null
  businessId: string | null
  /** When the status became completed; otherwise null. */
  completedAt: string | null
}

export interface TaskActivity {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  taskId: string
  kind: 'created' | 'status_changed' | 'assigned' | 'unassigned' | 'updated' | 'comment'
  actorKind: 'user' | 'agent' | 'api' | 'automation' | 'system'
  actorId: string | null
  /** The text of a comment. */
  body: string | null
  /** The fields that changed; for assigned and unassigned, userId. */
  changes: Record<string, TaskChange> | null
}

export interface TaskAssignee {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  taskId: string
  userId: string
}

export interface TaskChange {
  from: string | null
  to: string | null
}

export interface TaskRowInput {
  /** The task. */
  id?: string
  title?: string
  description?: string | null
  status?: 'open' | 'in_progress' | 'completed' | 'canceled'
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  dueAt?: string | Date | null
  contactId?: string | null
  customerId?: string | null
  businessId?: string | null
  /** Members, by their ids in members_list. */
  assigneeIds?: string[]
  /** With id alone: delete this row. */
  delete?: boolean
}

export interface Tax {
  /** Per cent, a decimal without trailing zeros. */
  rate: string
  name: string | null
  /** What is taxed, without the tax. */
  baseCents: number
  /** The tax, rounded once over the whole invoice. */
  amountCents: number
}

export interface Thread {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  /** At first, that of its first message. */
  subject: string
  /** A received message opens it again. */
  status: 'open' | 'waiting' | 'closed'
  /** The member who takes care of it. */
  assigneeId: string | null
  /** Nobody needs to look before; null again when mail comes in. */
  snoozedUntil: string | null
  /** Whom it is with. */
  contactId: string | null
  customerId: string | null
  /** When the last message came in, was written or sent. */
  lastMessageAt: string
  /** Drafts included. */
  messageCount: number
  /** True from the moment that mail comes in. */
  unread: boolean
  /** With include=lastMessage: the latest. */
  lastMessage?: ThreadMessage | null
}

export interface ThreadMessage {
  id: string
  direction: 'inbound' | 'outbound'
  status: 'draft' | 'scheduled' | 'queued' | 'sending' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'canceled' | 'received'
  from: string
  to: string[]
  /** The beginning of its text, without what it quotes. */
  preview: string
}

export interface ThreadNote {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  threadId: string
  /** The user, also behind a key or agent; null if unknown. */
  createdBy: string | null
  createdByAgent: boolean
  body: string
}

export interface Totals {
  /** One for each currency that the invoices have. */
  totals: CurrencyTotal[]
}

export interface Transaction {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  customerId: string
  /** Payments and credits reduce the debt. */
  type: 'invoice' | 'payment' | 'credit' | 'charge'
  /** Always positive, in the currency's smallest unit. */
  amountCents: number
  currency: string
  occurredAt: string
  description: string | null
  invoiceId: string | null
  paymentId: string | null
  creditNoteId: string | null
}

export interface Transfer {
  status: 'requested' | 'completed'
  requestedAt: string
}

export interface TransferStarted {
  /** For the other registrar; null when it is mailed to the registrant. */
  authCode: string | null
  transfer: Transfer
}

export interface Trigger {
  kind: 'event' | 'schedule' | 'manual'
  /** For kind event: its type, for example contact.created. */
  event: string | null
  /** For kind schedule: five cron fields like 0 9 * * 1-5, or @hourly, @daily etc. */
  cron: string | null
  /** For kind schedule: an IANA name; by default UTC. */
  timezone: string | null
}

export interface TriggerInput {
  kind: 'event' | 'schedule' | 'manual'
  /** For kind event: its type, for example contact.created. */
  event?: string | null
  /** For kind schedule: five cron fields like 0 9 * * 1-5, or @hourly, @daily etc. */
  cron?: string | null
  /** For kind schedule: an IANA name; by default UTC. */
  timezone?: string | null
}

export interface Unmerge {
  /** The one that stayed, without what it had gained. */
  contact: Contact
  /** The one that is back. */
  restored: Contact
  /** Those of the contact that are as before the merge. */
  fields: string[]
  /** The records that name the restored contact again. */
  moved: MergedRows[]
  /** What stays as it is, because it was changed since. */
  kept: Kept[]
}

export interface Unread {
  unread: number
  /** Kinds without any are left out. */
  byKind: Record<string, number>
}

export interface Use {
  spendCents: number
  messages: number
  newRecipients: number
  deletions: number
  dnsChanges: number
}

export interface Value {
  field: string
  /** What the record that it changes has now; null for nothing. */
  before: string | null
  after: string
}

export interface Verification {
  recordName: string
  recordValue: string
  verifiedAt: string | null
}

export interface View {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  /** The user, also behind a key; else the agent or the key. */
  createdBy: string | null
  /** The list, as exports name it: contacts. */
  objectType: string
  name: string
  /** Parameters of the list: {"tag": ["vip"]}. */
  query: Record<string, unknown>
  /** Fields that a table shows; empty for the usual. */
  columns: string[]
  /** Everybody sees it; else only its maker. */
  shared: boolean
}

export interface Webhook {
  id: string
  createdAt: string
  updatedAt: string
  deletedAt: string | null
  organizationId: string
  /** Https. */
  url: string
  /** Event types like contact.created; * is every type. */
  events: string[]
  description: string | null
  status: 'active' | 'disabled'
  /** Null when a caller did. */
  disabledReason: 'gone' | 'failing' | 'maker_left' | null
  /** Until then the previous secret also signs. */
  previousSecretUntil: string | null
  /** Signs deliveries; shown once, on creation or rotation. */
  secret: string | null
}

/** What automations.create takes. */
export interface AutomationCreateInput {
  name: string
  description?: string | null
  status?: 'active' | 'paused'
  trigger: TriggerInput
  /** CEL over event, input: event.data.x == 1. */
  condition?: string | null
  steps: StepInput[]
}

/** What automation_executions.list takes. */
export interface AutomationExecutionListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt'
  automationId?: string
  status?: ('queued' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'skipped')[]
}

/** What automations.list takes. */
export interface AutomationListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
}

/** What automations.options takes. */
export interface AutomationOptionsParams {
  /** Part of the name of an event or operation. */
  query?: string
}

/** What automations.preview takes. */
export interface AutomationPreviewInput {
  trigger: TriggerInput
  /** CEL over event, input: event.data.x == 1. */
  condition?: string | null
  steps: StepInput[]
  /** For a trigger of kind manual. */
  input?: Record<string, unknown>
  days?: number
  /** The most runs to show. */
  limit?: number
}

/** What automations.run takes. */
export interface AutomationRunInput {
  /** What the condition and steps see as input. */
  input?: Record<string, unknown>
  /** An event of events_list that the steps see. */
  eventId?: string | null
}

/** What automations.test takes. */
export interface AutomationTestInput {
  /** The most events to test. */
  limit?: number
  /** What the condition and steps see as input. */
  input?: Record<string, unknown>
}

/** What automations.update takes. */
export interface AutomationUpdateInput {
  name?: string
  description?: string | null
  status?: 'active' | 'paused'
  trigger?: TriggerInput
  /** CEL over event, input: event.data.x == 1. */
  condition?: string | null
  steps?: StepInput[]
}

/** What automations.executions.list takes. */
export interface AutomationsExecutionsListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  status?: ('queued' | 'running' | 'succeeded' | 'failed' | 'canceled' | 'skipped')[]
}

/** What businesses.create takes. */
export interface BusinessCreateInput {
  name: string
  legalName?: string | null
  description?: string | null
  industry?: string | null
  /** An IANA name, like Europe/Berlin. */
  timezone?: string
  locale?: string
  currency?: string
  logoFileId?: string | null
  /** Of documents and mail, like #1f4e79. */
  accentColor?: string | null
  /** How to pay, in words, on invoices. */
  paymentInstructions?: string | null
  bankName?: string | null
  /** Printed on unpaid invoices. */
  iban?: string | null
  bic?: string | null
}

/** What businesses.get takes. */
export interface BusinessGetParams {
  /** Properties: also show the confirmed ones. */
  include?: 'properties'[]
}

/** What businesses.invoice_reminders.create takes. */
export interface BusinessInvoiceReminderCreateInput {
  /** Days after dueAt; negative is before. */
  daysAfterDue: number
}

/** What businesses.invoice_reminders.list takes. */
export interface BusinessInvoiceReminderListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What businesses.list takes. */
export interface BusinessListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
  /** Properties: also show the confirmed ones. */
  include?: 'properties'[]
  /** The key of a property that is confirmed as propertyValue. */
  propertyKey?: string
  /** Exact; one option of a multi_select. */
  propertyValue?: string
}

/** What businesses.offerings.create takes. */
export interface BusinessOfferingCreateInput {
  /** By default the business's. */
  currency?: string | null
  name: string
  kind?: 'product' | 'service' | null
  description?: string | null
  /** In the smallest unit; null without a fixed price. */
  priceCents?: number | null
  /** What the price is for, for example hour. */
  unit?: string | null
  /** Per cent, 0 to 100, like 20 or 7.5. */
  taxRate?: string | null
  /** As an invoice shall call the tax: VAT. */
  taxName?: string | null
  isActive?: boolean
}

/** What businesses.offerings.list takes. */
export interface BusinessOfferingListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  kind?: ('product' | 'service')[]
  isActive?: boolean
  /** Part of a name; 1-2 letters match word starts. */
  query?: string
}

/** What businesses.offerings.update takes. */
export interface BusinessOfferingUpdateInput {
  currency?: string
  name?: string
  kind?: 'product' | 'service' | null
  description?: string | null
  /** In the smallest unit; null without a fixed price. */
  priceCents?: number | null
  /** What the price is for, for example hour. */
  unit?: string | null
  /** Per cent, 0 to 100, like 20 or 7.5. */
  taxRate?: string | null
  /** As an invoice shall call the tax: VAT. */
  taxName?: string | null
  isActive?: boolean
}

/** What businesses.online_presences.create takes. */
export interface BusinessOnlinePresenceCreateInput {
  kind: 'website' | 'facebook' | 'instagram' | 'linkedin' | 'x' | 'youtube' | 'tiktok' | 'google_business' | 'other'
  url: string
  /** The name there, for example @engines. */
  handle?: string | null
  description?: string | null
}

/** What businesses.online_presences.list takes. */
export interface BusinessOnlinePresenceListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  kind?: ('website' | 'facebook' | 'instagram' | 'linkedin' | 'x' | 'youtube' | 'tiktok' | 'google_business' | 'other')[]
}

/** What businesses.online_presences.update takes. */
export interface BusinessOnlinePresenceUpdateInput {
  kind?: 'website' | 'facebook' | 'instagram' | 'linkedin' | 'x' | 'youtube' | 'tiktok' | 'google_business' | 'other'
  url?: string
  /** The name there, for example @engines. */
  handle?: string | null
  description?: string | null
}

/** What businesses.physical_presences.create takes. */
export interface BusinessPhysicalPresenceCreateInput {
  name: string
  description?: string | null
  address?: string | null
}

/** What businesses.physical_presences.list takes. */
export interface BusinessPhysicalPresenceListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What businesses.physical_presences.update takes. */
export interface BusinessPhysicalPresenceUpdateInput {
  name?: string
  description?: string | null
  address?: string | null
}

/** What businesses.profile.replace takes. */
export interface BusinessProfileReplaceInput {
  tagline?: string | null
  about?: string | null
  mission?: string | null
  /** How the business wants to sound. */
  toneOfVoice?: string | null
  audience?: string | null
  foundedOn?: string | null
  taxId?: string | null
  email?: string | null
  phone?: string | null
  website?: string | null
}

/** What businesses.profile.update takes. */
export interface BusinessProfileUpdateInput {
  tagline?: string | null
  about?: string | null
  mission?: string | null
  /** How the business wants to sound. */
  toneOfVoice?: string | null
  audience?: string | null
  foundedOn?: string | null
  taxId?: string | null
  email?: string | null
  phone?: string | null
  website?: string | null
}

/** What businesses.properties.create takes. */
export interface BusinessPropertyCreateInput {
  definitionId: string
  /** Of the definition's type. */
  value: string | number | boolean | string[]
  /** By default confirmed; agents suggest. */
  status?: 'suggested' | 'confirmed' | null
  /** Where the value was found. */
  sources?: PropertySourceInput[]
}

/** What businesses.properties.list takes. */
export interface BusinessPropertyListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  status?: ('suggested' | 'confirmed' | 'dismissed')[]
  definitionId?: string
}

/** What businesses.properties.update takes. */
export interface BusinessPropertyUpdateInput {
  /** The status to move to. */
  status?: 'suggested' | 'confirmed' | 'dismissed'
  /** Replaces a confirmed value. */
  value?: string | number | boolean | string[]
}

/** What businesses.update takes. */
export interface BusinessUpdateInput {
  name?: string
  legalName?: string | null
  description?: string | null
  industry?: string | null
  /** An IANA name, like Europe/Berlin. */
  timezone?: string
  locale?: string
  currency?: string
  logoFileId?: string | null
  /** Of documents and mail, like #1f4e79. */
  accentColor?: string | null
  /** How to pay, in words, on invoices. */
  paymentInstructions?: string | null
  bankName?: string | null
  /** Printed on unpaid invoices. */
  iban?: string | null
  bic?: string | null
}

/** What contacts.addresses.create takes. */
export interface ContactAddressCreateInput {
  line1: string
  line2?: string | null
  city?: string | null
  state?: string | null
  postalCode?: string | null
  /** ISO 3166, two letters. */
  country?: string | null
  label?: string | null
  isPrimary?: boolean | null
}

/** What contacts.addresses.list takes. */
export interface ContactAddressListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What contacts.addresses.update takes. */
export interface ContactAddressUpdateInput {
  line1?: string
  line2?: string | null
  city?: string | null
  state?: string | null
  postalCode?: string | null
  /** ISO 3166, two letters. */
  country?: string | null
  label?: string | null
  isPrimary?: boolean
}

/** What contacts.batch takes. */
export interface ContactBatchInput {
  /** All rows or none; or each by itself. */
  mode?: 'atomic' | 'each'
  rows: ContactRowInput[]
}

/** What contacts.create takes. */
export interface ContactCreateInput {
  firstName?: string | null
  middleName?: string | null
  lastName?: string | null
  /** Before the name: Dr. */
  prefix?: string | null
  /** After the name: Jr. */
  suffix?: string | null
  organizationName?: string | null
  jobTitle?: string | null
  birthday?: string | null
  notes?: string | null
  /** What another system calls it; unique. */
  externalId?: string | null
  /** A change replaces all. */
  tags?: string[]
  emails?: EmailFields[]
  phoneNumbers?: PhoneNumberFields[]
  addresses?: AddressFields[]
}

/** What contacts.duplicates takes. */
export interface ContactDuplicatesParams {
  /** How many groups at most. */
  limit?: number
  /** Always 0: go on with cursor. */
  offset?: number
  /** First, then each page's nextCursor. */
  cursor?: string
  /** By default all. */
  reason?: ('email' | 'phone' | 'name')[]
  /** By reason, then by value. */
  sortOrder?: 'asc'
}

/** What contacts.emails.create takes. */
export interface ContactEmailCreateInput {
  email: string
  label?: string | null
  isPrimary?: boolean | null
}

/** What contacts.emails.list takes. */
export interface ContactEmailListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What contacts.emails.update takes. */
export interface ContactEmailUpdateInput {
  email?: string
  label?: string | null
  isPrimary?: boolean
}

/** What contacts.export takes. */
export interface ContactExportParams {
  sortOrder?: 'asc' | 'desc'
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  /** Part of name, company, email or phone; 1-2 letters match word starts. */
  query?: string
  /** An exact email address. */
  email?: string
  /** An exact phone number. */
  phone?: string
  externalId?: string
  /** The whole name of a company. */
  organizationName?: string
  /** One of these tags. */
  tag?: string[]
  /** A time or never; so all six. */
  lastMessageAfter?: string
  lastMessageBefore?: string
  lastInboundAfter?: string
  lastInboundBefore?: string
  lastOutboundAfter?: string
  /** Not written to since. */
  lastOutboundBefore?: string
  /** The key of a property that is confirmed as propertyValue. */
  propertyKey?: string
  /** Exact; one option of a multi_select. */
  propertyValue?: string
}

/** What contacts.get takes. */
export interface ContactGetParams {
  /** Properties: also show the confirmed ones. */
  include?: 'properties'[]
}

/** What contacts.list takes. */
export interface ContactListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
  /** Part of name, company, email or phone; 1-2 letters match word starts. */
  query?: string
  /** An exact email address. */
  email?: string
  /** An exact phone number. */
  phone?: string
  externalId?: string
  /** The whole name of a company. */
  organizationName?: string
  /** One of these tags. */
  tag?: string[]
  /** A time or never; so all six. */
  lastMessageAfter?: string
  lastMessageBefore?: string
  lastInboundAfter?: string
  lastInboundBefore?: string
  lastOutboundAfter?: string
  /** Not written to since. */
  lastOutboundBefore?: string
  /** Properties: also show the confirmed ones. */
  include?: 'properties'[]
  /** The key of a property that is confirmed as propertyValue. */
  propertyKey?: string
  /** Exact; one option of a multi_select. */
  propertyValue?: string
}

/** What contacts.merge takes. */
export interface ContactMergeInput {
  /** The other contact, which goes. */
  contactId: string
  /** Only tell what would move. */
  dryRun?: boolean
  /** Fields, like firstName, of which the other's value is taken. */
  take?: string[]
}

/** What contacts.notes.create takes. */
export interface ContactNoteCreateInput {
  body: string
  /** Call: by phone. */
  kind?: 'note' | 'call'
}

/** What contacts.notes.list takes. */
export interface ContactNoteListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What contacts.notes.update takes. */
export interface ContactNoteUpdateInput {
  body?: string
  /** Call: by phone. */
  kind?: 'note' | 'call'
}

/** What contacts.phone_numbers.create takes. */
export interface ContactPhoneNumberCreateInput {
  /** E.164, or national with countryCode. */
  phoneNumber: string
  /** The calling code, for example 44. */
  countryCode?: string | null
  /** Checked against phoneNumber. */
  nationalNumber?: string | null
  label?: string | null
}

/** What contacts.phone_numbers.list takes. */
export interface ContactPhoneNumberListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What contacts.phone_numbers.update takes. */
export interface ContactPhoneNumberUpdateInput {
  phoneNumber?: string
  countryCode?: string
  nationalNumber?: string
  label?: string | null
}

/** What contacts.properties.create takes. */
export interface ContactPropertyCreateInput {
  definitionId: string
  /** Of the definition's type. */
  value: string | number | boolean | string[]
  /** By default confirmed; agents suggest. */
  status?: 'suggested' | 'confirmed' | null
  /** Where the value was found. */
  sources?: PropertySourceInput[]
}

/** What contacts.properties.list takes. */
export interface ContactPropertyListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  status?: ('suggested' | 'confirmed' | 'dismissed')[]
  definitionId?: string
}

/** What contacts.properties.update takes. */
export interface ContactPropertyUpdateInput {
  /** The status to move to. */
  status?: 'suggested' | 'confirmed' | 'dismissed'
  /** Replaces a confirmed value. */
  value?: string | number | boolean | string[]
}

/** What contacts.put_by_email takes. */
export interface ContactPutByEmailInput {
  firstName?: string | null
  middleName?: string | null
  lastName?: string | null
  /** Before the name: Dr. */
  prefix?: string | null
  /** After the name: Jr. */
  suffix?: string | null
  organizationName?: string | null
  jobTitle?: string | null
  birthday?: string | null
  notes?: string | null
  /** What another system calls it; unique. */
  externalId?: string | null
  /** A change replaces all. */
  tags?: string[]
}

/** What contacts.unmerge takes. */
export interface ContactUnmergeInput {
  /** The contact that was merged into this one. */
  contactId: string
}

/** What contacts.update takes. */
export interface ContactUpdateInput {
  firstName?: string | null
  middleName?: string | null
  lastName?: string | null
  /** Before the name: Dr. */
  prefix?: string | null
  /** After the name: Jr. */
  suffix?: string | null
  organizationName?: string | null
  jobTitle?: string | null
  birthday?: string | null
  notes?: string | null
  /** What another system calls it; unique. */
  externalId?: string | null
  /** A change replaces all. */
  tags?: string[]
}

/** What customers.batch takes. */
export interface CustomerBatchInput {
  /** All rows or none; or each by itself. */
  mode?: 'atomic' | 'each'
  rows: CustomerRowInput[]
}

/** What customers.create takes. */
export interface CustomerCreateInput {
  /** By default the caller's. */
  businessId?: string | null
  contactId?: string | null
  type?: 'individual' | 'business'
  name: string
  email?: string | null
  phone?: string | null
  notes?: string | null
  status?: 'prospect' | 'active' | 'inactive'
  customerSince?: string | Date | null
  /** A change replaces all. */
  tags?: string[]
  /** What another system calls it; unique. */
  externalId?: string | null
}

/** What customers.export takes. */
export interface CustomerExportParams {
  sortOrder?: 'asc' | 'desc'
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  /** Part of a name, email or phone; 1-2 letters match word starts. */
  query?: string
  status?: ('prospect' | 'active' | 'inactive')[]
  type?: ('individual' | 'business')[]
  businessId?: string
  contactId?: string
  externalId?: string
  /** One of these tags. */
  tag?: string[]
  /** The key of a property that is confirmed as propertyValue. */
  propertyKey?: string
  /** Exact; one option of a multi_select. */
  propertyValue?: string
}

/** What customers.get takes. */
export interface CustomerGetParams {
  /** Properties: also show the confirmed ones. */
  include?: 'properties'[]
}

/** What customers.list takes. */
export interface CustomerListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
  /** Part of a name, email or phone; 1-2 letters match word starts. */
  query?: string
  status?: ('prospect' | 'active' | 'inactive')[]
  type?: ('individual' | 'business')[]
  businessId?: string
  contactId?: string
  externalId?: string
  /** One of these tags. */
  tag?: string[]
  /** Properties: also show the confirmed ones. */
  include?: 'properties'[]
  /** The key of a property that is confirmed as propertyValue. */
  propertyKey?: string
  /** Exact; one option of a multi_select. */
  propertyValue?: string
}

/** What customers.properties.create takes. */
export interface CustomerPropertyCreateInput {
  definitionId: string
  /** Of the definition's type. */
  value: string | number | boolean | string[]
  /** By default confirmed; agents suggest. */
  status?: 'suggested' | 'confirmed' | null
  /** Where the value was found. */
  sources?: PropertySourceInput[]
}

/** What customers.properties.list takes. */
export interface CustomerPropertyListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  status?: ('suggested' | 'confirmed' | 'dismissed')[]
  definitionId?: string
}

/** What customers.properties.update takes. */
export interface CustomerPropertyUpdateInput {
  /** The status to move to. */
  status?: 'suggested' | 'confirmed' | 'dismissed'
  /** Replaces a confirmed value. */
  value?: string | number | boolean | string[]
}

/** What customers.put_by_external_id takes. */
export interface CustomerPutByExternalIdInput {
  businessId?: string
  contactId?: string | null
  type?: 'individual' | 'business'
  name?: string
  email?: string | null
  phone?: string | null
  notes?: string | null
  status?: 'prospect' | 'active' | 'inactive'
  customerSince?: string | Date | null
  /** A change replaces all. */
  tags?: string[]
}

/** What customers.statement takes. */
export interface CustomerStatementParams {
  /** The first day; by default the beginning. */
  from?: string
  /** The last day; by default today. */
  to?: string
}

/** What customers.transactions.create takes. */
export interface CustomerTransactionCreateInput {
  type: 'credit' | 'charge'
  /** In the currency's smallest unit. */
  amountCents: number
  /** By default that of the customer's business. */
  currency?: string | null
  /** By default now. */
  occurredAt?: string | Date | null
  description?: string | null
}

/** What customers.transactions.list takes. */
export interface CustomerTransactionListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  type?: ('invoice' | 'payment' | 'credit' | 'charge')[]
  invoiceId?: string
}

/** What customers.update takes. */
export interface CustomerUpdateInput {
  businessId?: string
  contactId?: string | null
  type?: 'individual' | 'business'
  name?: string
  email?: string | null
  phone?: string | null
  notes?: string | null
  status?: 'prospect' | 'active' | 'inactive'
  customerSince?: string | Date | null
  /** A change replaces all. */
  tags?: string[]
  externalId?: string | null
}

/** What domain_contacts.create takes. */
export interface DomainContactCreateInput {
  /** Kept here alone. */
  label?: string | null
  firstName: string
  lastName: string
  /** Required for names under .ai, .co, .io and .me. */
  organizationName?: string | null
  /** Required with organizationName. */
  jobTitle?: string | null
  /** Street. */
  address1: string
  address2?: string | null
  city: string
  stateProvince: string
  postalCode: string
  /** ISO 3166, two letters. */
  country: string
  email: string
  /** E.164, or a number of the country. */
  phone: string
}

/** What domain_contacts.list takes. */
export interface DomainContactListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt'
}

/** What domain_contacts.update takes. */
export interface DomainContactUpdateInput {
  /** Kept here alone. */
  label?: string | null
  firstName?: string
  lastName?: string
  /** Required for names under .ai, .co, .io and .me. */
  organizationName?: string | null
  /** Required with organizationName. */
  jobTitle?: string | null
  /** Street. */
  address1?: string
  address2?: string | null
  city?: string
  stateProvince?: string
  postalCode?: string
  /** ISO 3166, two letters. */
  country?: string
  email?: string
  /** E.164, or a number of the country. */
  phone?: string
}

/** What domains.create takes. */
export interface DomainCreateInput {
  /** A host name below a public suffix. */
  name: string
  purpose?: 'general' | 'transactional' | 'marketing'
}

/** What domains.dns_records.create takes. */
export interface DomainDNSRecordCreateInput {
  type: 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'MX' | 'NS' | 'SRV' | 'TXT'
  /** Relative to the zone; @, empty or absent is the apex. */
  name?: string | null
  /** TXT unquoted; SRV: weight port host; CAA: flags tag value. */
  content: string
  /** In seconds. */
  ttl?: number
  /** Required for MX and SRV, and only for them. */
  priority?: number | null
}

/** What domains.dns_records.list takes. */
export interface DomainDNSRecordListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  type?: ('A' | 'AAAA' | 'CAA' | 'CNAME' | 'MX' | 'NS' | 'SOA' | 'SRV' | 'TXT')[]
  /** Relative to the zone; @ is the apex. */
  name?: string
}

/** What domains.dns_records.patch takes. */
export interface DomainDNSRecordPatchInput {
  /** Relative to the zone; @ is the apex. */
  name?: string
  /** TXT unquoted; SRV: weight port host. */
  content?: string
  /** In seconds. */
  ttl?: number
  /** Of MX and SRV. */
  priority?: number
}

/** What domains.dns_records.update takes. */
export interface DomainDNSRecordUpdateInput {
  type: 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'MX' | 'NS' | 'SRV' | 'TXT'
  /** Relative to the zone; @, empty or absent is the apex. */
  name?: string | null
  /** TXT unquoted; SRV: weight port host; CAA: flags tag value. */
  content: string
  /** In seconds. */
  ttl?: number
  /** Required for MX and SRV, and only for them. */
  priority?: number | null
}

/** What domains.email.enable takes. */
export interface DomainEmailEnableInput {
  /** Full unless given; while email is on, it stays unless given. */
  mode?: 'full' | 'sending' | null
}

/** What domains.list takes. */
export interface DomainListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
  /** The whole name, in any script. */
  name?: string
  status?: ('pending_verification' | 'active' | 'expired' | 'transferred')[]
  source?: ('registered' | 'external')[]
  /** Part of the name, in any script. */
  query?: string
}

/** What domains.quote takes. */
export interface DomainQuoteParams {
  domain: string
  periodYears?: number
}

/** What domains.register takes. */
export interface DomainRegisterInput {
  /** One label and an ending that is offered. */
  domain: string
  periodYears?: number
  /** Cents of a US dollar; at least the quote's. */
  maxAmountCents: number
  autoRenew?: boolean
  /** The registrant; or give contactId. */
  contact?: RegistrantInput | null
  /** A saved domain contact, in place of contact. */
  contactId?: string | null
}

/** What domains.registration.contact.update takes. */
export interface DomainRegistrationContactUpdateInput {
  /** Kept here alone. */
  label?: string | null
  firstName?: string
  lastName?: string
  /** Required for names under .ai, .co, .io and .me. */
  organizationName?: string | null
  /** Required with organizationName. */
  jobTitle?: string | null
  /** Street. */
  address1?: string
  address2?: string | null
  city?: string
  stateProvince?: string
  postalCode?: string
  /** ISO 3166, two letters. */
  country?: string
  email?: string
  /** E.164, or a number of the country. */
  phone?: string
}

/** What domains.registration.update takes. */
export interface DomainRegistrationUpdateInput {
  transferLock?: boolean
  autoRenew?: boolean
}

/** What domains.renew takes. */
export interface DomainRenewInput {
  periodYears?: number
  /** Cents of a US dollar; at least the price of the years. */
  maxAmountCents: number
}

/** What domains.renew_quote takes. */
export interface DomainRenewQuoteParams {
  periodYears?: number
}

/** What domains.search takes. */
export interface DomainSearchParams {
  /** A name, or one label. */
  query: string
}

/** What domains.subdomains.create takes. */
export interface DomainSubdomainCreateInput {
  /** The full name, one label under the domain. */
  name: string
  /** General gets mail. */
  purpose?: 'general' | 'transactional' | 'marketing'
}

/** What domains.subdomains.list takes. */
export interface DomainSubdomainListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What email_opt_ins.batch takes. */
export interface EmailOptInBatchInput {
  /** All rows or none; or each by itself. */
  mode?: 'atomic' | 'each'
  rows: OptInRowInput[]
}

/** What email_opt_ins.create takes. */
export interface EmailOptInCreateInput {
  email: string
  contactId?: string | null
  status?: 'pending' | 'opted_in' | 'opted_out'
  /** Where the consent came from. */
  source?: string | null
  /** When it opted in; by default now, for opted_in. */
  optedInAt?: string | Date | null
  /** When it opted out; by default now, for opted_out. */
  optedOutAt?: string | Date | null
}

/** What email_opt_ins.export takes. */
export interface EmailOptInExportParams {
  sortOrder?: 'asc' | 'desc'
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  status?: ('pending' | 'opted_in' | 'opted_out')[]
  /** The exact address, ignoring case. */
  email?: string
  contactId?: string
  /** Part of an address or a source; 1-2 letters match word starts. */
  query?: string
}

/** What email_opt_ins.list takes. */
export interface EmailOptInListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'email'
  status?: ('pending' | 'opted_in' | 'opted_out')[]
  /** The exact address, ignoring case. */
  email?: string
  contactId?: string
  /** Part of an address or a source; 1-2 letters match word starts. */
  query?: string
}

/** What email_opt_ins.update takes. */
export interface EmailOptInUpdateInput {
  email?: string
  contactId?: string | null
  status?: 'pending' | 'opted_in' | 'opted_out'
  /** Where the consent came from. */
  source?: string | null
}

/** What email_templates.create takes. */
export interface EmailTemplateCreateInput {
  name: string
  description?: string | null
  /** With placeholders. */
  subject: string
  /** With placeholders like {{ customer.name }}. */
  body: string
  bodyFormat?: 'markdown' | 'html'
  status?: 'active' | 'archived'
  templateKey?: 'invoice' | 'invoice_reminder' | 'payment_receipt' | null
}

/** What email_templates.list takes. */
export interface EmailTemplateListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
  status?: ('active' | 'archived')[]
  /** Part of a name, ignoring case. */
  name?: string
}

/** What email_templates.preview takes. */
export interface EmailTemplatePreviewInput {
  /** Like {"customer": {"name": "Ada"}}. */
  variables?: Record<string, unknown>
  /** Whose letterhead to show; its logo is cid:logo. */
  businessId?: string | null
}

/** What email_templates.update takes. */
export interface EmailTemplateUpdateInput {
  name?: string
  description?: string | null
  /** With placeholders. */
  subject?: string
  /** With placeholders like {{ customer.name }}. */
  body?: string
  bodyFormat?: 'markdown' | 'html'
  status?: 'active' | 'archived'
  templateKey?: 'invoice' | 'invoice_reminder' | 'payment_receipt' | null
}

/** What events.list takes. */
export interface EventListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Exactly this type. */
  type?: string
  /** A type without its verb, for example contact.phone_number. */
  resourceType?: string
  resourceId?: string
  /** One of these. */
  resourceIds?: string[]
  /** The user, agent, API key or automation that did it. */
  actorId?: string
  /** At this time or later. */
  since?: string | Date
  /** Before this time. */
  until?: string | Date
}

/** What files.access_links.create takes. */
export interface FileAccessLinkCreateInput {
  /** Must be in the future. */
  expiresAt?: string | Date | null
  /** By default unlimited. */
  maxDownloads?: number | null
}

/** What files.access_links.list takes. */
export interface FileAccessLinkListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What files.list takes. */
export interface FileListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
  /** None for the root. */
  folderId?: string
  /** Part of a name; 1-2 letters match word starts. */
  query?: string
}

/** What files.read takes. */
export interface FileReadParams {
  /** NextOffset of the answer before. */
  offset?: number
}

/** What files.update takes. */
export interface FileUpdateInput {
  name?: string
  folderId?: string | null
}

/** What files.upload takes. */
export interface FileUploadInput {
  /** The bytes, with a file name. */
  file: Upload
  /** By default the part's file name. */
  name?: string | null
  folderId?: string | null
}

/** What folders.create takes. */
export interface FolderCreateInput {
  name: string
  parentFolderId?: string | null
}

/** What folders.list takes. */
export interface FolderListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
  /** None for the root. */
  parentFolderId?: string
}

/** What folders.update takes. */
export interface FolderUpdateInput {
  name?: string
  parentFolderId?: string | null
}

/** What imports.create takes. */
export interface ImportCreateInput {
  /** CSV with a line of headings, or vCard; up to 64 MiB and 500,000 records. */
  file: Upload
  objectType: 'contacts' | 'customers'
  /** JSON: an object from column to field; null ignores a column. */
  mapping?: string | null
  /** True stores nothing and says what each line would do. */
  dryRun?: boolean
  /** Of a dry run: only such lines. */
  linesAction?: 'create' | 'update' | 'unchanged' | 'fail' | null
  /** Of a dry run: lines to pass over. */
  linesOffset?: number
}

/** What imports.list takes. */
export interface ImportListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt'
  status?: ('receiving' | 'queued' | 'running' | 'succeeded' | 'failed')[]
  objectType?: ('contacts' | 'customers')[]
}

/** What invoices.create takes. */
export interface InvoiceCreateInput {
  customerId: string
  /** By default the customer's. */
  businessId?: string | null
  lineItems?: LineItemFields[]
  /** By default the business's. */
  currency?: string
  dueAt?: string | Date | null
  billToName?: string | null
  billToEmail?: string | null
  billToAddressLine1?: string | null
  billToAddressLine2?: string | null
  billToCity?: string | null
  billToState?: string | null
  billToPostalCode?: string | null
  billToCountry?: string | null
  /** Of all lines; 0 to 100. */
  discountPercent?: string | null
  /** By default taxes are added to the prices. */
  pricesIncludeTax?: boolean
  notes?: string | null
  terms?: string | null
  /** Anything to keep with the invoice. */
  data?: Record<string, unknown>
}

/** What invoices.credit_notes.create takes. */
export interface InvoiceCreditNoteCreateInput {
  /** By default all that is left of every line. */
  lineItems?: CreditLineFields[]
  reason?: string | null
  /** With tax; in place of lineItems. */
  amountCents?: number | null
}

/** What invoices.credit_notes.list takes. */
export interface InvoiceCreditNoteListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What invoices.export takes. */
export interface InvoiceExportParams {
  sortOrder?: 'asc' | 'desc'
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  /** Part of number, name or email; 1-2 letters match word starts. */
  query?: string
  status?: ('draft' | 'issued' | 'sent' | 'partially_paid' | 'paid' | 'overdue' | 'void')[]
  customerId?: string
  businessId?: string
  /** Invoices due before this time. */
  dueBefore?: string | Date
  /** Invoices due after this time. */
  dueAfter?: string | Date
  /** True: issued, with something still due; false: all others. */
  unpaid?: boolean
}

/** What invoices.list takes. */
export interface InvoiceListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'dueAt' | 'totalCents'
  /** Customer: also show it. */
  include?: 'customer'[]
  /** Part of number, name or email; 1-2 letters match word starts. */
  query?: string
  status?: ('draft' | 'issued' | 'sent' | 'partially_paid' | 'paid' | 'overdue' | 'void')[]
  customerId?: string
  businessId?: string
  /** Invoices due before this time. */
  dueBefore?: string | Date
  /** Invoices due after this time. */
  dueAfter?: string | Date
  /** True: issued, with something still due; false: all others. */
  unpaid?: boolean
}

/** What invoices.payments.list takes. */
export interface InvoicePaymentListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What invoices.payments.refund takes. */
export interface InvoicePaymentRefundInput {
  /** By default all that is left of it. */
  amountCents?: number | null
}

/** What invoices.record_payment takes. */
export interface InvoiceRecordPaymentInput {
  /** Smallest unit; at most what is due. */
  amountCents: number
  /** By default now. */
  paidAt?: string | Date | null
  method?: 'cash' | 'check' | 'bank_transfer' | 'card' | 'other'
  note?: string | null
}

/** What invoices.send takes. */
export interface InvoiceSendInput {
  /** By default billToEmail. */
  to?: string | null
  templateKey?: 'invoice' | 'invoice_reminder'
  /** A text of yours in the mail. */
  message?: string | null
  /** When to send it; within a year. */
  scheduledAt?: string | Date | null
}

/** What invoices.totals takes. */
export interface InvoiceTotalsParams {
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** Part of number, name or email; 1-2 letters match word starts. */
  query?: string
  status?: ('draft' | 'issued' | 'sent' | 'partially_paid' | 'paid' | 'overdue' | 'void')[]
  customerId?: string
  businessId?: string
  /** Invoices due before this time. */
  dueBefore?: string | Date
  /** Invoices due after this time. */
  dueAfter?: string | Date
  /** True: issued, with something still due; false: all others. */
  unpaid?: boolean
}

/** What invoices.update takes. */
export interface InvoiceUpdateInput {
  customerId?: string
  lineItems?: LineItemFields[]
  /** By default the business's. */
  currency?: string
  dueAt?: string | Date | null
  billToName?: string | null
  billToEmail?: string | null
  billToAddressLine1?: string | null
  billToAddressLine2?: string | null
  billToCity?: string | null
  billToState?: string | null
  billToPostalCode?: string | null
  billToCountry?: string | null
  /** Of all lines; 0 to 100. */
  discountPercent?: string | null
  /** By default taxes are added to the prices. */
  pricesIncludeTax?: boolean
  notes?: string | null
  terms?: string | null
  /** Anything to keep with the invoice. */
  data?: Record<string, unknown>
}

/** What members.list takes. */
export interface MemberListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** Parts of a name or an email, in any order. */
  query?: string
}

/** What members.update takes. */
export interface MemberUpdateInput {
  maySpend?: boolean
  mayApprove?: boolean
  /** Contacts:read, contacts:write and so on, or *. */
  permissions?: string[]
}

/** What messages.attachments.create takes. */
export interface MessageAttachmentCreateInput {
  fileId: string
  /** What the recipient sees; by default the file's name. */
  fileName?: string | null
}

/** What messages.attachments.list takes. */
export interface MessageAttachmentListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What messages.contacts.create takes. */
export interface MessageContactCreateInput {
  contactId: string
  role?: 'from' | 'to' | 'cc' | 'bcc' | 'mentioned'
}

/** What messages.contacts.list takes. */
export interface MessageContactListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What messages.create takes. */
export interface MessageCreateInput {
  /** Up to 50; whom it answers, if left out. */
  to?: string | string[]
  cc?: string | string[] | null
  bcc?: string | string[] | null
  /** With or without a name; no-reply@ the service's by default. */
  from?: string | null
  replyTo?: string | null
  /** Required unless it answers, or a template has one. */
  subject?: string | null
  text?: string | null
  /** Sanitized; also becomes the text if there is none. */
  html?: string | null
  /** Renders instead of text and html. */
  templateId?: string | null
  /** Values for the template, may be nested. */
  variables?: Record<string, unknown>
  /** Files to attach. */
  fileIds?: string[]
  /** Invoices to attach as PDF. */
  invoiceIds?: string[]
  purpose?: 'transactional' | 'marketing'
  /** When to send it; within a year. */
  scheduledAt?: string | Date | null
  /** The message it answers. */
  inReplyToId?: string | null
  contactId?: string | null
  customerId?: string | null
  /** True keeps it unsent. */
  draft?: boolean
  /** Also send text as HTML, in the letterhead. */
  letterhead?: boolean
  /** Also mark the thread read and waiting; true for agents. */
  answer?: boolean | null
  /** Text is Markdown. */
  markdown?: boolean
}

/** What messages.list takes. */
export interface MessageListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt'
  direction?: ('inbound' | 'outbound')[]
  status?: ('draft' | 'scheduled' | 'queued' | 'sending' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'canceled' | 'received')[]
  threadId?: string
  /** A contact that the message names, or is from or to. */
  contactId?: string
  customerId?: string
  /** Part of subject, address or text; 1-2 letters match word starts. */
  query?: string
  /** Contacts: also show those linked, at most 50 of each. */
  include?: 'contacts'[]
}

/** What messages.update takes. */
export interface MessageUpdateInput {
  to?: string | string[]
  cc?: string | string[] | null
  bcc?: string | string[] | null
  /** An address, with or without a name. */
  from?: string
  replyTo?: string | null
  subject?: string
  text?: string | null
  html?: string | null
  templateId?: string | null
  variables?: Record<string, unknown>
  fileIds?: string[] | null
  invoiceIds?: string[] | null
  purpose?: 'transactional' | 'marketing'
  scheduledAt?: string | Date | null
  inReplyToId?: string | null
  contactId?: string | null
  customerId?: string | null
  /** Also send text in the letterhead. */
  letterhead?: boolean
  /** Text is Markdown. */
  markdown?: boolean
}

/** What notifications.list takes. */
export interface NotificationListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only those that are not read yet. */
  unread?: boolean
  /** Only of these kinds. */
  kind?: ('mentioned' | 'assigned' | 'answered' | 'proposal' | 'invoice_paid' | 'payment_failed' | 'mail_failed' | 'backup_failed' | 'domain' | 'webhook')[]
}

/** What notifications.read takes. */
export interface NotificationReadInput {
  /** Others than your own are ignored. */
  ids?: string[] | null
}

/** What operations.list takes. */
export interface OperationListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt'
  type?: ('domain_registration' | 'domain_renewal')[]
  status?: ('queued' | 'running' | 'succeeded' | 'failed')[]
}

/** What property_definitions.create takes. */
export interface PropertyDefinitionCreateInput {
  objectType: 'contact' | 'customer' | 'business'
  /** Like shoe_size; unique per object type. */
  key: string
  valueType: 'text' | 'number' | 'boolean' | 'date' | 'url' | 'select' | 'multi_select'
  name: string
  description?: string | null
  /** Of a select or multi_select; others have none. */
  options?: string[] | null
  /** Whether forms should ask for it; not enforced. */
  isRequired?: boolean
}

/** What property_definitions.list takes. */
export interface PropertyDefinitionListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'name'
  objectType?: ('contact' | 'customer' | 'business')[]
  /** Part of a name or key; 1-2 letters match word starts. */
  query?: string
}

/** What property_definitions.update takes. */
export interface PropertyDefinitionUpdateInput {
  name?: string
  description?: string | null
  /** Of a select or multi_select; others have none. */
  options?: string[] | null
  /** Whether forms should ask for it; not enforced. */
  isRequired?: boolean
}

/** What proposals.create takes. */
export interface ProposalCreateInput {
  title: string
  /** For the person who decides. */
  reason?: string | null
  steps: StepInput[]
  /** By default in 7 days; at most in 30. */
  expiresAt?: string | Date | null
  /** The proposal that this one changes. */
  replacesId?: string | null
}

/** What proposals.get takes. */
export interface ProposalGetParams {
  /** How long to wait for its end. */
  waitSeconds?: number
  /** Short leaves out steps and effects. */
  view?: 'auto' | 'short' | 'full'
}

/** What proposals.list takes. */
export interface ProposalListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt'
  status?: ('planned' | 'pending' | 'approved' | 'executing' | 'executed' | 'failed' | 'rejected' | 'canceled' | 'expired' | 'stale')[]
  agentId?: string
  /** Those that take this import back. */
  undoesImportId?: string
}

/** What reports.agents.export takes. */
export interface ReportAgentExportParams {
  /** A day in the business's time zone, or a time. */
  from?: string
  /** A day, which counts, or a time, which does not; by default now. */
  to?: string
  businessId?: string
  currency?: string
  groupBy?: 'month' | 'week' | 'quarter' | 'customer' | 'offering' | 'age' | 'member' | 'agent'
  /** The most rows; totals count all. */
  limit?: number
}

/** What reports.get takes. */
export interface ReportGetParams {
  /** A day in the business's time zone, or a time. */
  from?: string
  /** A day, which counts, or a time, which does not; by default now. */
  to?: string
  businessId?: string
  currency?: string
  groupBy?: 'month' | 'week' | 'quarter' | 'customer' | 'offering' | 'age' | 'member' | 'agent'
  /** The most rows; totals count all. */
  limit?: number
}

/** What reports.mail.export takes. */
export interface ReportMailExportParams {
  /** A day in the business's time zone, or a time. */
  from?: string
  /** A day, which counts, or a time, which does not; by default now. */
  to?: string
  businessId?: string
  currency?: string
  groupBy?: 'month' | 'week' | 'quarter' | 'customer' | 'offering' | 'age' | 'member' | 'agent'
  /** The most rows; totals count all. */
  limit?: number
}

/** What reports.receivables.export takes. */
export interface ReportReceivableExportParams {
  /** A day in the business's time zone, or a time. */
  from?: string
  /** A day, which counts, or a time, which does not; by default now. */
  to?: string
  businessId?: string
  currency?: string
  groupBy?: 'month' | 'week' | 'quarter' | 'customer' | 'offering' | 'age' | 'member' | 'agent'
  /** The most rows; totals count all. */
  limit?: number
}

/** What reports.revenue.export takes. */
export interface ReportRevenueExportParams {
  /** A day in the business's time zone, or a time. */
  from?: string
  /** A day, which counts, or a time, which does not; by default now. */
  to?: string
  businessId?: string
  currency?: string
  groupBy?: 'month' | 'week' | 'quarter' | 'customer' | 'offering' | 'age' | 'member' | 'agent'
  /** The most rows; totals count all. */
  limit?: number
}

/** What reports.taxes.export takes. */
export interface ReportTaxeExportParams {
  /** A day in the business's time zone, or a time. */
  from?: string
  /** A day, which counts, or a time, which does not; by default now. */
  to?: string
  businessId?: string
  currency?: string
  groupBy?: 'month' | 'week' | 'quarter' | 'customer' | 'offering' | 'age' | 'member' | 'agent'
  /** The most rows; totals count all. */
  limit?: number
}

/** What suggestions.list takes. */
export interface SuggestionListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  objectType?: ('contact' | 'customer' | 'business')[]
  definitionId?: string
  /** Suggested by this agent. */
  agentId?: string
}

/** What tasks.activity.create takes. */
export interface TaskActivityCreateInput {
  body: string
}

/** What tasks.activity.list takes. */
export interface TaskActivityListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What tasks.assignees.create takes. */
export interface TaskAssigneeCreateInput {
  /** A member of the organization. */
  userId: string
}

/** What tasks.assignees.list takes. */
export interface TaskAssigneeListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What tasks.batch takes. */
export interface TaskBatchInput {
  /** All rows or none; or each by itself. */
  mode?: 'atomic' | 'each'
  rows: TaskRowInput[]
}

/** What tasks.create takes. */
export interface TaskCreateInput {
  title: string
  description?: string | null
  status?: 'open' | 'in_progress' | 'completed' | 'canceled'
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  dueAt?: string | Date | null
  contactId?: string | null
  customerId?: string | null
  businessId?: string | null
  /** Members, by their ids in members_list. */
  assigneeIds?: string[]
}

/** What tasks.export takes. */
export interface TaskExportParams {
  sortOrder?: 'asc' | 'desc'
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  status?: ('open' | 'in_progress' | 'completed' | 'canceled')[]
  priority?: ('low' | 'normal' | 'high' | 'urgent')[]
  /** A user the task is assigned to. */
  assigneeId?: string
  contactId?: string
  customerId?: string
  businessId?: string
  dueBefore?: string | Date
  dueAfter?: string | Date
  /** Part of title or description; 1-2 letters match word starts. */
  query?: string
}

/** What tasks.list takes. */
export interface TaskListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'dueAt' | 'title'
  status?: ('open' | 'in_progress' | 'completed' | 'canceled')[]
  priority?: ('low' | 'normal' | 'high' | 'urgent')[]
  /** A user the task is assigned to. */
  assigneeId?: string
  contactId?: string
  customerId?: string
  businessId?: string
  dueBefore?: string | Date
  dueAfter?: string | Date
  /** Part of title or description; 1-2 letters match word starts. */
  query?: string
}

/** What tasks.update takes. */
export interface TaskUpdateInput {
  title?: string
  description?: string | null
  status?: 'open' | 'in_progress' | 'completed' | 'canceled'
  priority?: 'low' | 'normal' | 'high' | 'urgent'
  dueAt?: string | Date | null
  contactId?: string | null
  customerId?: string | null
  businessId?: string | null
}

/** What threads.list takes. */
export interface ThreadListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt' | 'lastMessageAt'
  status?: ('open' | 'waiting' | 'closed')[]
  /** A member's id, or none. */
  assigneeId?: string
  /** The contact that the thread is with. */
  contactId?: string
  customerId?: string
  unread?: boolean
  /** True: those that nobody needs to look at yet; false: all others. */
  snoozed?: boolean
  /** Part of subject or address; 1-2 letters match word starts. */
  query?: string
  /** LastMessage: also show the latest message in short. */
  include?: 'lastMessage'[]
}

/** What threads.notes.create takes. */
export interface ThreadNoteCreateInput {
  body: string
}

/** What threads.notes.list takes. */
export interface ThreadNoteListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
}

/** What threads.update takes. */
export interface ThreadUpdateInput {
  subject?: string
  status?: 'open' | 'waiting' | 'closed'
  /** A member of the organization. */
  assigneeId?: string | null
  /** A time within a year. */
  snoozedUntil?: string | Date | null
  contactId?: string | null
  customerId?: string | null
  unread?: boolean
}

/** What undo.create takes. */
export interface UndoCreateInput {
  /** All that this agent did; give one of the four. */
  agentId?: string | null
  proposalId?: string | null
  /** The requestId of events. */
  requestId?: string | null
  importId?: string | null
  /** Only what happened from then on; by default the last 7 days. */
  since?: string | Date | null
}

/** What views.create takes. */
export interface ViewCreateInput {
  /** The list, as exports name it: contacts. */
  objectType: string
  name: string
  /** Parameters of the list: {"tag": ["vip"]}. */
  query: Record<string, unknown>
  /** Fields that a table shows; empty for the usual. */
  columns?: string[]
  /** Everybody sees it; else only its maker. */
  shared?: boolean
}

/** What views.list takes. */
export interface ViewListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** Of these lists: contacts, tasks. */
  objectType?: string[]
}

/** What views.update takes. */
export interface ViewUpdateInput {
  name?: string
  /** Parameters of the list: {"tag": ["vip"]}. */
  query?: Record<string, unknown>
  /** Fields that a table shows; empty for the usual. */
  columns?: string[]
  /** Everybody sees it; else only its maker. */
  shared?: boolean
}

/** What webhooks.create takes. */
export interface WebhookCreateInput {
  /** Https. */
  url: string
  /** Event types like contact.created; * is every type. */
  events: string[]
  description?: string | null
  status?: 'active' | 'disabled'
}

/** What webhooks.deliveries.list takes. */
export interface WebhookDeliveryListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  status?: ('pending' | 'retrying' | 'succeeded' | 'failed' | 'canceled')[]
  /** Exactly this type. */
  eventType?: string
}

/** What webhooks.list takes. */
export interface WebhookListParams {
  /** How many at most. */
  limit?: number
  /** How many to skip. */
  offset?: number
  sortOrder?: 'asc' | 'desc'
  /** First, then each page's nextCursor; instead of offset. */
  cursor?: string
  /** Only these. */
  ids?: string[]
  createdAfter?: string | Date
  createdBefore?: string | Date
  updatedAfter?: string | Date
  updatedBefore?: string | Date
  /** A saved view. */
  viewId?: string
  sortBy?: 'createdAt' | 'updatedAt'
  status?: ('active' | 'disabled')[]
}

/** What webhooks.update takes. */
export interface WebhookUpdateInput {
  /** Https. */
  url?: string
  /** Event types like contact.created; * is every type. */
  events?: string[]
  description?: string | null
  status?: 'active' | 'disabled'
}

/** The operations `automation_executions.*`. */
export class AutomationExecutionsResource extends Resource {

  /** Cancel an execution: it ends before its next step. */
  cancel(id: string, options?: CallOptions): Promise<Execution> {
    return this.client.call({ method: 'POST', path: path`/v1/automation-executions/${id}/cancel` }, options)
  }

  /** Get an execution. */
  get(id: string, options?: CallOptions): Promise<Execution> {
    return this.client.call({ method: 'GET', path: path`/v1/automation-executions/${id}` }, options)
  }

  /** List executions, newest first. An execution is skipped when the condition was false. */
  list(params?: AutomationExecutionListParams, options?: CallOptions): Pages<Execution> {
    return this.client.list('/v1/automation-executions', params, true, options)
  }

  /** Continue an execution from the step that failed. Completed steps are not repeated. If the automation was changed in the meantime, and the completed steps are still the same, the rest run as they are now. */
  retry(id: string, options?: CallOptions): Promise<Execution> {
    return this.client.call({ method: 'POST', path: path`/v1/automation-executions/${id}/retry` }, options)
  }
}

/** The operations `automations.executions.*`. */
export class AutomationsExecutionsResource extends Resource {

  /** List an automation's executions, newest first. */
  list(automationId: string, params?: AutomationsExecutionsListParams, options?: CallOptions): Pages<Execution> {
    return this.client.list(path`/v1/automations/${automationId}/executions`, params, false, options)
  }
}

/** The operations `automations.*`. */
export class AutomationsResource extends Resource {
  readonly executions = new AutomationsExecutionsResource(this.client)

  /** Create an automation. Steps run in order, with placeholders over event, input and what earlier steps saved in their texts. A refused step ends the execution. A step's input is the operation's whole input as one object, path fields included. A text that is a single placeholder becomes the value itself. An automation acts with the permissions of whoever last changed its steps: a step that the caller may not take is refused, and so is an event whose resource the caller may not read. */
  create(input: AutomationCreateInput, options?: CallOptions): Promise<Automation> {
    return this.client.call({ method: 'POST', path: '/v1/automations', body: input }, options)
  }

  /** Delete an automation and cancel its executions; a running one ends before its next step. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/automations/${id}` }, options)
  }

  /** Get an automation. */
  get(id: string, options?: CallOptions): Promise<Automation> {
    return this.client.call({ method: 'GET', path: path`/v1/automations/${id}` }, options)
  }

  /** List automations, newest first. */
  list(params?: AutomationListParams, options?: CallOptions): Pages<Automation> {
    return this.client.list('/v1/automations', params, true, options)
  }

  /** List what automations can be made of: events, operations and placeholders. */
  options(params?: AutomationOptionsParams, options?: CallOptions): Promise<AutomationOptions> {
    return this.client.call({ method: 'GET', path: '/v1/automations/options', query: params }, options)
  }

  /** Show what an automation would have done in the past days, without saving or doing it. Checks every event of the trigger's type, or every time of the schedule, newest first, up to 10,000 of them or two seconds: complete says whether that was all. A trigger of kind manual runs once, with the given input. */
  preview(input: AutomationPreviewInput, options?: CallOptions): Promise<Preview> {
    return this.client.call({ method: 'POST', path: '/v1/automations/preview', body: input }, options)
  }

  /** Restore a deleted automation. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<Automation> {
    return this.client.call({ method: 'POST', path: path`/v1/automations/${id}/restore` }, options)
  }

  /** Run an automation now. Answers with the execution, which continues on its own. The condition applies here too. With eventId, the steps see that event, as if it had just happened. */
  run(id: string, input?: AutomationRunInput, options?: CallOptions): Promise<Execution> {
    return this.client.call({ method: 'POST', path: path`/v1/automations/${id}/run`, body: input ?? {} }, options)
  }

  /** Show what an automation would do, without doing it. Evaluates the condition on the latest events of the trigger's type and shows the inputs of the steps. A trigger of another kind runs once, with the given input. What a step would save is unknown, so its placeholders stay. */
  test(id: string, input?: AutomationTestInput, options?: CallOptions): Promise<Rehearsal> {
    return this.client.call({ method: 'POST', path: path`/v1/automations/${id}/test`, body: input ?? {} }, options)
  }

  /** Change fields of an automation. Pausing cancels the executions that have not begun. One that has begun continues with the steps it started with. */
  update(id: string, input?: AutomationUpdateInput, options?: CallOptions): Promise<Automation> {
    return this.client.call({ method: 'PATCH', path: path`/v1/automations/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `businesses.invoice_reminders.*`. */
export class BusinessesInvoiceRemindersResource extends Resource {

  /** Remind of every invoice that is not paid, some days after or before it is due. The reminder goes to billToEmail, with the template invoice_reminder and the PDF: once for each invoice and rule, and never after it is paid. It begins with invoices whose day comes from now on. A new business has no rules. */
  create(businessId: string, input: BusinessInvoiceReminderCreateInput, options?: CallOptions): Promise<ReminderRule> {
    return this.client.call({ method: 'POST', path: path`/v1/businesses/${businessId}/invoice-reminders`, body: input }, options)
  }

  /** Stop reminding on that day. */
  delete(businessId: string, invoiceReminderId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/businesses/${businessId}/invoice-reminders/${invoiceReminderId}` }, options)
  }

  /** Get one rule by which a business reminds of its invoices. */
  get(businessId: string, invoiceReminderId: string, options?: CallOptions): Promise<ReminderRule> {
    return this.client.call({ method: 'GET', path: path`/v1/businesses/${businessId}/invoice-reminders/${invoiceReminderId}` }, options)
  }

  /** List when a business reminds of its invoices. */
  list(businessId: string, params?: BusinessInvoiceReminderListParams, options?: CallOptions): Pages<ReminderRule> {
    return this.client.list(path`/v1/businesses/${businessId}/invoice-reminders`, params, false, options)
  }
}

/** The operations `businesses.offerings.*`. */
export class BusinessesOfferingsResource extends Resource {

  /** Add an offering to a business. Without currency, the price is in the business's. */
  create(businessId: string, input: BusinessOfferingCreateInput, options?: CallOptions): Promise<BusinessOffering> {
    return this.client.call({ method: 'POST', path: path`/v1/businesses/${businessId}/offerings`, body: input }, options)
  }

  /** Remove an offering from a business. */
  delete(businessId: string, offeringId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/businesses/${businessId}/offerings/${offeringId}` }, options)
  }

  /** Get an offering of a business. */
  get(businessId: string, offeringId: string, options?: CallOptions): Promise<BusinessOffering> {
    return this.client.call({ method: 'GET', path: path`/v1/businesses/${businessId}/offerings/${offeringId}` }, options)
  }

  /** List a business's offerings, newest first. */
  list(businessId: string, params?: BusinessOfferingListParams, options?: CallOptions): Pages<BusinessOffering> {
    return this.client.list(path`/v1/businesses/${businessId}/offerings`, params, false, options)
  }

  /** Change an offering of a business. */
  update(businessId: string, offeringId: string, input?: BusinessOfferingUpdateInput, options?: CallOptions): Promise<BusinessOffering> {
    return this.client.call({ method: 'PATCH', path: path`/v1/businesses/${businessId}/offerings/${offeringId}`, body: input ?? {} }, options)
  }
}

/** The operations `businesses.online_presences.*`. */
export class BusinessesOnlinePresencesResource extends Resource {

  /** Add an online presence to a business. */
  create(businessId: string, input: BusinessOnlinePresenceCreateInput, options?: CallOptions): Promise<BusinessOnlinePresence> {
    return this.client.call({ method: 'POST', path: path`/v1/businesses/${businessId}/online-presences`, body: input }, options)
  }

  /** Remove an online presence from a business. */
  delete(businessId: string, onlinePresenceId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/businesses/${businessId}/online-presences/${onlinePresenceId}` }, options)
  }

  /** Get an online presence of a business. */
  get(businessId: string, onlinePresenceId: string, options?: CallOptions): Promise<BusinessOnlinePresence> {
    return this.client.call({ method: 'GET', path: path`/v1/businesses/${businessId}/online-presences/${onlinePresenceId}` }, options)
  }

  /** List a business's online presences, newest first. */
  list(businessId: string, params?: BusinessOnlinePresenceListParams, options?: CallOptions): Pages<BusinessOnlinePresence> {
    return this.client.list(path`/v1/businesses/${businessId}/online-presences`, params, false, options)
  }

  /** Change an online presence of a business. */
  update(businessId: string, onlinePresenceId: string, input?: BusinessOnlinePresenceUpdateInput, options?: CallOptions): Promise<BusinessOnlinePresence> {
    return this.client.call({ method: 'PATCH', path: path`/v1/businesses/${businessId}/online-presences/${onlinePresenceId}`, body: input ?? {} }, options)
  }
}

/** The operations `businesses.physical_presences.*`. */
export class BusinessesPhysicalPresencesResource extends Resource {

  /** Add a physical presence to a business. */
  create(businessId: string, input: BusinessPhysicalPresenceCreateInput, options?: CallOptions): Promise<BusinessPhysicalPresence> {
    return this.client.call({ method: 'POST', path: path`/v1/businesses/${businessId}/physical-presences`, body: input }, options)
  }

  /** Remove a physical presence from a business. */
  delete(businessId: string, physicalPresenceId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/businesses/${businessId}/physical-presences/${physicalPresenceId}` }, options)
  }

  /** Get a physical presence of a business. */
  get(businessId: string, physicalPresenceId: string, options?: CallOptions): Promise<BusinessPhysicalPresence> {
    return this.client.call({ method: 'GET', path: path`/v1/businesses/${businessId}/physical-presences/${physicalPresenceId}` }, options)
  }

  /** List a business's physical presences, newest first. */
  list(businessId: string, params?: BusinessPhysicalPresenceListParams, options?: CallOptions): Pages<BusinessPhysicalPresence> {
    return this.client.list(path`/v1/businesses/${businessId}/physical-presences`, params, false, options)
  }

  /** Change a physical presence of a business. */
  update(businessId: string, physicalPresenceId: string, input?: BusinessPhysicalPresenceUpdateInput, options?: CallOptions): Promise<BusinessPhysicalPresence> {
    return this.client.call({ method: 'PATCH', path: path`/v1/businesses/${businessId}/physical-presences/${physicalPresenceId}`, body: input ?? {} }, options)
  }
}

/** The operations `businesses.profile.*`. */
export class BusinessesProfileResource extends Resource {

  /** Get the profile of a business. Every business has one; its fields are null until they are set. */
  get(businessId: string, options?: CallOptions): Promise<BusinessProfile> {
    return this.client.call({ method: 'GET', path: path`/v1/businesses/${businessId}/profile` }, options)
  }

  /** Replace the profile of a business; omitted fields become null. */
  replace(businessId: string, input?: BusinessProfileReplaceInput, options?: CallOptions): Promise<BusinessProfile> {
    return this.client.call({ method: 'PUT', path: path`/v1/businesses/${businessId}/profile`, body: input ?? {} }, options)
  }

  /** Change fields of the profile of a business. */
  update(businessId: string, input?: BusinessProfileUpdateInput, options?: CallOptions): Promise<BusinessProfile> {
    return this.client.call({ method: 'PATCH', path: path`/v1/businesses/${businessId}/profile`, body: input ?? {} }, options)
  }
}

/** The operations `businesses.properties.*`. */
export class BusinessesPropertiesResource extends Resource {

  /** Give a business a property value. A value from an agent is a suggestion unless it says otherwise. A confirmed value replaces the one confirmed before. A number may be sent as a string; an array holds strings. */
  create(businessId: string, input: BusinessPropertyCreateInput, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'POST', path: path`/v1/businesses/${businessId}/properties`, body: input }, options)
  }

  /** Delete a property value of a business. */
  delete(businessId: string, propertyId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/businesses/${businessId}/properties/${propertyId}` }, options)
  }

  /** Get a property value of a business. */
  get(businessId: string, propertyId: string, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'GET', path: path`/v1/businesses/${businessId}/properties/${propertyId}` }, options)
  }

  /** List the property values of a business, newest first. */
  list(businessId: string, params?: BusinessPropertyListParams, options?: CallOptions): Pages<PropertyValue> {
    return this.client.list(path`/v1/businesses/${businessId}/properties`, params, false, options)
  }

  /** Confirm, dismiss, restore or replace a property value of a business. Use status to confirm a suggestion, dismiss a value or restore a dismissed one as a suggestion. Use value to replace a confirmed value, which gets a new id. With both, status comes first, and both happen or neither. */
  update(businessId: string, propertyId: string, input?: BusinessPropertyUpdateInput, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'PATCH', path: path`/v1/businesses/${businessId}/properties/${propertyId}`, body: input ?? {} }, options)
  }
}

/** The operations `businesses.*`. */
export class BusinessesResource extends Resource {
  readonly invoiceReminders = new BusinessesInvoiceRemindersResource(this.client)
  readonly offerings = new BusinessesOfferingsResource(this.client)
  readonly onlinePresences = new BusinessesOnlinePresencesResource(this.client)
  readonly physicalPresences = new BusinessesPhysicalPresencesResource(this.client)
  readonly profile = new BusinessesProfileResource(this.client)
  readonly properties = new BusinessesPropertiesResource(this.client)

  /** Create a business. Keys and agents of the new business work once its agreement is accepted. */
  create(input: BusinessCreateInput, options?: CallOptions): Promise<Business> {
    return this.client.call({ method: 'POST', path: '/v1/businesses', body: input }, options)
  }

  /** Delete a business. A business that has API keys or agents cannot be deleted, nor can the last one of an organization. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/businesses/${id}` }, options)
  }

  /** Get a business. */
  get(id: string, params?: BusinessGetParams, options?: CallOptions): Promise<BusinessWithProperties> {
    return this.client.call({ method: 'GET', path: path`/v1/businesses/${id}`, query: params }, options)
  }

  /** List the organization's businesses, newest first. */
  list(params?: BusinessListParams, options?: CallOptions): Pages<BusinessWithProperties> {
    return this.client.list('/v1/businesses', params, true, options)
  }

  /** Restore a deleted business. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<Business> {
    return this.client.call({ method: 'POST', path: path`/v1/businesses/${id}/restore` }, options)
  }

  /** Change fields of a business. */
  update(id: string, input?: BusinessUpdateInput, options?: CallOptions): Promise<Business> {
    return this.client.call({ method: 'PATCH', path: path`/v1/businesses/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `contacts.addresses.*`. */
export class ContactsAddressesResource extends Resource {

  /** Add an address to a contact. The first address is primary. A new primary address replaces the old one. */
  create(contactId: string, input: ContactAddressCreateInput, options?: CallOptions): Promise<Address> {
    return this.client.call({ method: 'POST', path: path`/v1/contacts/${contactId}/addresses`, body: input }, options)
  }

  /** Remove an address from a contact. */
  delete(contactId: string, addressId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/contacts/${contactId}/addresses/${addressId}` }, options)
  }

  /** Get an address of a contact. */
  get(contactId: string, addressId: string, options?: CallOptions): Promise<Address> {
    return this.client.call({ method: 'GET', path: path`/v1/contacts/${contactId}/addresses/${addressId}` }, options)
  }

  /** List a contact's addresses, newest first. */
  list(contactId: string, params?: ContactAddressListParams, options?: CallOptions): Pages<Address> {
    return this.client.list(path`/v1/contacts/${contactId}/addresses`, params, false, options)
  }

  /** Change an address of a contact. */
  update(contactId: string, addressId: string, input?: ContactAddressUpdateInput, options?: CallOptions): Promise<Address> {
    return this.client.call({ method: 'PATCH', path: path`/v1/contacts/${contactId}/addresses/${addressId}`, body: input ?? {} }, options)
  }
}

/** The operations `contacts.emails.*`. */
export class ContactsEmailsResource extends Resource {

  /** Add an email address to a contact. The first address is primary. A new primary address replaces the old one. */
  create(contactId: string, input: ContactEmailCreateInput, options?: CallOptions): Promise<Email> {
    return this.client.call({ method: 'POST', path: path`/v1/contacts/${contactId}/emails`, body: input }, options)
  }

  /** Remove an email address from a contact. */
  delete(contactId: string, emailId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/contacts/${contactId}/emails/${emailId}` }, options)
  }

  /** Get an email address of a contact. */
  get(contactId: string, emailId: string, options?: CallOptions): Promise<Email> {
    return this.client.call({ method: 'GET', path: path`/v1/contacts/${contactId}/emails/${emailId}` }, options)
  }

  /** List a contact's email addresses, newest first. */
  list(contactId: string, params?: ContactEmailListParams, options?: CallOptions): Pages<Email> {
    return this.client.list(path`/v1/contacts/${contactId}/emails`, params, false, options)
  }

  /** Change an email address of a contact. */
  update(contactId: string, emailId: string, input?: ContactEmailUpdateInput, options?: CallOptions): Promise<Email> {
    return this.client.call({ method: 'PATCH', path: path`/v1/contacts/${contactId}/emails/${emailId}`, body: input ?? {} }, options)
  }
}

/** The operations `contacts.notes.*`. */
export class ContactsNotesResource extends Resource {

  /** Add a note to a contact. Notes are for the house alone. */
  create(contactId: string, input: ContactNoteCreateInput, options?: CallOptions): Promise<ContactNote> {
    return this.client.call({ method: 'POST', path: path`/v1/contacts/${contactId}/notes`, body: input }, options)
  }

  /** Remove a note from a contact. */
  delete(contactId: string, noteId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/contacts/${contactId}/notes/${noteId}` }, options)
  }

  /** List a contact's notes, newest first. */
  list(contactId: string, params?: ContactNoteListParams, options?: CallOptions): Pages<ContactNote> {
    return this.client.list(path`/v1/contacts/${contactId}/notes`, params, false, options)
  }

  /** Change a note on a contact. */
  update(contactId: string, noteId: string, input?: ContactNoteUpdateInput, options?: CallOptions): Promise<ContactNote> {
    return this.client.call({ method: 'PATCH', path: path`/v1/contacts/${contactId}/notes/${noteId}`, body: input ?? {} }, options)
  }
}

/** The operations `contacts.phone_numbers.*`. */
export class ContactsPhoneNumbersResource extends Resource {

  /** Add a phone number to a contact. A number without + needs countryCode. Numbers are stored as E.164. */
  create(contactId: string, input: ContactPhoneNumberCreateInput, options?: CallOptions): Promise<PhoneNumber> {
    return this.client.call({ method: 'POST', path: path`/v1/contacts/${contactId}/phone-numbers`, body: input }, options)
  }

  /** Remove a phone number from a contact. */
  delete(contactId: string, phoneNumberId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/contacts/${contactId}/phone-numbers/${phoneNumberId}` }, options)
  }

  /** Get a phone number of a contact. */
  get(contactId: string, phoneNumberId: string, options?: CallOptions): Promise<PhoneNumber> {
    return this.client.call({ method: 'GET', path: path`/v1/contacts/${contactId}/phone-numbers/${phoneNumberId}` }, options)
  }

  /** List a contact's phone numbers, newest first. */
  list(contactId: string, params?: ContactPhoneNumberListParams, options?: CallOptions): Pages<PhoneNumber> {
    return this.client.list(path`/v1/contacts/${contactId}/phone-numbers`, params, false, options)
  }

  /** Change a phone number of a contact. */
  update(contactId: string, phoneNumberId: string, input?: ContactPhoneNumberUpdateInput, options?: CallOptions): Promise<PhoneNumber> {
    return this.client.call({ method: 'PATCH', path: path`/v1/contacts/${contactId}/phone-numbers/${phoneNumberId}`, body: input ?? {} }, options)
  }
}

/** The operations `contacts.properties.*`. */
export class ContactsPropertiesResource extends Resource {

  /** Give a contact a property value. A value from an agent is a suggestion unless it says otherwise. A confirmed value replaces the one confirmed before. A number may be sent as a string; an array holds strings. */
  create(contactId: string, input: ContactPropertyCreateInput, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'POST', path: path`/v1/contacts/${contactId}/properties`, body: input }, options)
  }

  /** Delete a property value of a contact. */
  delete(contactId: string, propertyId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/contacts/${contactId}/properties/${propertyId}` }, options)
  }

  /** Get a property value of a contact. */
  get(contactId: string, propertyId: string, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'GET', path: path`/v1/contacts/${contactId}/properties/${propertyId}` }, options)
  }

  /** List the property values of a contact, newest first. */
  list(contactId: string, params?: ContactPropertyListParams, options?: CallOptions): Pages<PropertyValue> {
    return this.client.list(path`/v1/contacts/${contactId}/properties`, params, false, options)
  }

  /** Confirm, dismiss, restore or replace a property value of a contact. Use status to confirm a suggestion, dismiss a value or restore a dismissed one as a suggestion. Use value to replace a confirmed value, which gets a new id. With both, status comes first, and both happen or neither. */
  update(contactId: string, propertyId: string, input?: ContactPropertyUpdateInput, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'PATCH', path: path`/v1/contacts/${contactId}/properties/${propertyId}`, body: input ?? {} }, options)
  }
}

/** The operations `contacts.*`. */
export class ContactsResource extends Resource {
  readonly addresses = new ContactsAddressesResource(this.client)
  readonly emails = new ContactsEmailsResource(this.client)
  readonly notes = new ContactsNotesResource(this.client)
  readonly phoneNumbers = new ContactsPhoneNumbersResource(this.client)
  readonly properties = new ContactsPropertiesResource(this.client)

  /** Create, change and delete up to 500 contacts at once. A row with an id changes, {id, delete: true} deletes, one without an id creates. The answer has a status with data or error for each row, in order. 25 rows count as one request. */
  batch(input: ContactBatchInput, options?: CallOptions): Promise<BatchResult<Contact>[]> {
    return this.client.call({ method: 'POST', path: '/v1/contacts/batch', body: input }, options)
  }

  /** Create a contact, with its emails, phone numbers and addresses. At least one of firstName, lastName and organizationName is needed. A contact has at most 100 emails, 100 phone numbers and 100 addresses. */
  create(input?: ContactCreateInput, options?: CallOptions): Promise<Contact> {
    return this.client.call({ method: 'POST', path: '/v1/contacts', body: input ?? {} }, options)
  }

  /** Delete a contact. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/contacts/${id}` }, options)
  }

  /** List groups of contacts that share an email, a phone number or a full name. One call looks through a part of the contacts, so a page may be short or empty and still have a successor: go on with nextCursor until it is null. Merge what is the same with contacts.merge. */
  duplicates(params?: ContactDuplicatesParams, options?: CallOptions): Pages<Duplicate> {
    return this.client.list('/v1/contacts/duplicates', params, true, options)
  }

  /** Export contacts as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that a spreadsheet would take for a formula begins with an apostrophe. */
  export(params?: ContactExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/exports/contacts.csv', query: params }, options)
  }

  /** Get a contact. */
  get(id: string, params?: ContactGetParams, options?: CallOptions): Promise<Contact> {
    return this.client.call({ method: 'GET', path: path`/v1/contacts/${id}`, query: params }, options)
  }

  /** List contacts, newest first. */
  list(params?: ContactListParams, options?: CallOptions): Pages<Contact> {
    return this.client.list('/v1/contacts', params, true, options)
  }

  /** Merge another contact into this one, and delete the other. The contact keeps its own fields, but for those that take names, and takes those that it lacks; notes are joined. Emails, numbers, addresses, tags, properties, messages, tasks, customers and opt-ins of the other follow. Where both have a confirmed property, the other's becomes a suggestion. With dryRun it only answers what would move. */
  merge(id: string, input: ContactMergeInput, options?: CallOptions): Promise<Merge> {
    return this.client.call({ method: 'POST', path: path`/v1/contacts/${id}/merge`, body: input }, options)
  }

  /** Create or change the contact with an email address. Changes the fields that are sent, like PATCH, and keeps the rest. Without a contact that has the address it creates one, which needs a name, and answers 201. Several at once create one contact. */
  putByEmail(address: string, input?: ContactPutByEmailInput, options?: CallOptions): Promise<Contact> {
    return this.client.call({ method: 'PUT', path: path`/v1/contacts/by-email/${address}`, body: input ?? {} }, options)
  }

  /** Restore a deleted contact. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<Contact> {
    return this.client.call({ method: 'POST', path: path`/v1/contacts/${id}/restore` }, options)
  }

  /** Take back a merge: restore the other contact, and what was moved goes back to it. Fields that the contact took over get their former values. What somebody changed since the merge stays as it is and is named in kept. Works as long as deleted contacts and events are kept. */
  unmerge(id: string, input: ContactUnmergeInput, options?: CallOptions): Promise<Unmerge> {
    return this.client.call({ method: 'POST', path: path`/v1/contacts/${id}/unmerge`, body: input }, options)
  }

  /** Change fields of a contact. */
  update(id: string, input?: ContactUpdateInput, options?: CallOptions): Promise<Contact> {
    return this.client.call({ method: 'PATCH', path: path`/v1/contacts/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `customers.balance.*`. */
export class CustomersBalanceResource extends Resource {

  /** Get what a customer owes, by currency. The sum of the customer's transactions. A negative balance is the customer's credit. */
  get(customerId: string, options?: CallOptions): Promise<Balance> {
    return this.client.call({ method: 'GET', path: path`/v1/customers/${customerId}/balance` }, options)
  }
}

/** The operations `customers.properties.*`. */
export class CustomersPropertiesResource extends Resource {

  /** Give a customer a property value. A value from an agent is a suggestion unless it says otherwise. A confirmed value replaces the one confirmed before. A number may be sent as a string; an array holds strings. */
  create(customerId: string, input: CustomerPropertyCreateInput, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'POST', path: path`/v1/customers/${customerId}/properties`, body: input }, options)
  }

  /** Delete a property value of a customer. */
  delete(customerId: string, propertyId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/customers/${customerId}/properties/${propertyId}` }, options)
  }

  /** Get a property value of a customer. */
  get(customerId: string, propertyId: string, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'GET', path: path`/v1/customers/${customerId}/properties/${propertyId}` }, options)
  }

  /** List the property values of a customer, newest first. */
  list(customerId: string, params?: CustomerPropertyListParams, options?: CallOptions): Pages<PropertyValue> {
    return this.client.list(path`/v1/customers/${customerId}/properties`, params, false, options)
  }

  /** Confirm, dismiss, restore or replace a property value of a customer. Use status to confirm a suggestion, dismiss a value or restore a dismissed one as a suggestion. Use value to replace a confirmed value, which gets a new id. With both, status comes first, and both happen or neither. */
  update(customerId: string, propertyId: string, input?: CustomerPropertyUpdateInput, options?: CallOptions): Promise<PropertyValue> {
    return this.client.call({ method: 'PATCH', path: path`/v1/customers/${customerId}/properties/${propertyId}`, body: input ?? {} }, options)
  }
}

/** The operations `customers.transactions.*`. */
export class CustomersTransactionsResource extends Resource {

  /** Credit or charge a customer outside any invoice. Issued invoices and payments write their own transactions. */
  create(customerId: string, input: CustomerTransactionCreateInput, options?: CallOptions): Promise<Transaction> {
    return this.client.call({ method: 'POST', path: path`/v1/customers/${customerId}/transactions`, body: input }, options)
  }

  /** Get a transaction of a customer. */
  get(customerId: string, transactionId: string, options?: CallOptions): Promise<Transaction> {
    return this.client.call({ method: 'GET', path: path`/v1/customers/${customerId}/transactions/${transactionId}` }, options)
  }

  /** List a customer's transactions, newest first. */
  list(customerId: string, params?: CustomerTransactionListParams, options?: CallOptions): Pages<Transaction> {
    return this.client.list(path`/v1/customers/${customerId}/transactions`, params, false, options)
  }
}

/** The operations `customers.*`. */
export class CustomersResource extends Resource {
  readonly balance = new CustomersBalanceResource(this.client)
  readonly properties = new CustomersPropertiesResource(this.client)
  readonly transactions = new CustomersTransactionsResource(this.client)

  /** Create, change and delete up to 500 customers at once. A row with an id changes, {id, delete: true} deletes, one without an id creates. The answer has a status with data or error for each row, in order. 25 rows count as one request. */
  batch(input: CustomerBatchInput, options?: CallOptions): Promise<BatchResult<Customer>[]> {
    return this.client.call({ method: 'POST', path: '/v1/customers/batch', body: input }, options)
  }

  /** Create a customer. Without businessId, the customer belongs to the caller's business. */
  create(input: CustomerCreateInput, options?: CallOptions): Promise<Customer> {
    return this.client.call({ method: 'POST', path: '/v1/customers', body: input }, options)
  }

  /** Delete a customer. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/customers/${id}` }, options)
  }

  /** Export customers as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that a spreadsheet would take for a formula begins with an apostrophe. */
  export(params?: CustomerExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/exports/customers.csv', query: params }, options)
  }

  /** Get a customer. */
  get(id: string, params?: CustomerGetParams, options?: CallOptions): Promise<Customer> {
    return this.client.call({ method: 'GET', path: path`/v1/customers/${id}`, query: params }, options)
  }

  /** List customers, newest first. */
  list(params?: CustomerListParams, options?: CallOptions): Pages<Customer> {
    return this.client.list('/v1/customers', params, true, options)
  }

  /** Create or change the customer that another system knows by an id. Changes the fields that are sent, like PATCH, and keeps the rest. Without a customer that has the externalId it creates one, which needs a name, and answers 201. Several at once create one customer. */
  putByExternalId(externalId: string, input?: CustomerPutByExternalIdInput, options?: CallOptions): Promise<Customer> {
    return this.client.call({ method: 'PUT', path: path`/v1/customers/by-external-id/${externalId}`, body: input ?? {} }, options)
  }

  /** Restore a deleted customer. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<Customer> {
    return this.client.call({ method: 'POST', path: path`/v1/customers/${id}/restore` }, options)
  }

  /** Get a customer's statement as a PDF. It lists the customer's transactions of a time, with the balance before, after each and at the end, by currency. The first and the last day are days of the business's time zone. */
  statement(id: string, params?: CustomerStatementParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: path`/v1/customers/${id}/statement.pdf`, query: params }, options)
  }

  /** Change fields of a customer. */
  update(id: string, input?: CustomerUpdateInput, options?: CallOptions): Promise<Customer> {
    return this.client.call({ method: 'PATCH', path: path`/v1/customers/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `domain_contacts.*`. */
export class DomainContactsResource extends Resource {

  /** Save a registrant for later registrations. */
  create(input: DomainContactCreateInput, options?: CallOptions): Promise<DomainContact> {
    return this.client.call({ method: 'POST', path: '/v1/domain-contacts', body: input }, options)
  }

  /** Delete a registrant that no domain uses. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/domain-contacts/${id}` }, options)
  }

  /** Get a saved registrant. */
  get(id: string, options?: CallOptions): Promise<DomainContact> {
    return this.client.call({ method: 'GET', path: path`/v1/domain-contacts/${id}` }, options)
  }

  /** List saved registrants, newest first. */
  list(params?: DomainContactListParams, options?: CallOptions): Pages<DomainContact> {
    return this.client.list('/v1/domain-contacts', params, true, options)
  }

  /** Restore a deleted domain contact. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<DomainContact> {
    return this.client.call({ method: 'POST', path: path`/v1/domain-contacts/${id}/restore` }, options)
  }

  /** Change a registrant, at the registrar too. A new name, organization or email makes the registrar verify the registrant of every domain that uses the contact again. */
  update(id: string, input?: DomainContactUpdateInput, options?: CallOptions): Promise<DomainContact> {
    return this.client.call({ method: 'PATCH', path: path`/v1/domain-contacts/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `domains.dns_records.*`. */
export class DomainsDnsRecordsResource extends Resource {

  /** Add a DNS record to a domain. The content must match the type. MX and SRV records need a priority. A CNAME cannot be beside other records of its name, nor at the apex. A name has one SPF record. */
  create(domainId: string, input: DomainDNSRecordCreateInput, options?: CallOptions): Promise<DNSRecord> {
    return this.client.call({ method: 'POST', path: path`/v1/domains/${domainId}/dns-records`, body: input }, options)
  }

  /** Remove a DNS record. */
  delete(domainId: string, recordId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/domains/${domainId}/dns-records/${recordId}` }, options)
  }

  /** Get a DNS record. */
  get(domainId: string, recordId: string, options?: CallOptions): Promise<DNSRecord> {
    return this.client.call({ method: 'GET', path: path`/v1/domains/${domainId}/dns-records/${recordId}` }, options)
  }

  /** List the DNS records of a domain, newest first. Includes the built-in SOA and NS records at the apex. */
  list(domainId: string, params?: DomainDNSRecordListParams, options?: CallOptions): Pages<DNSRecord> {
    return this.client.list(path`/v1/domains/${domainId}/dns-records`, params, false, options)
  }

  /** Change fields of a DNS record. The SPF record of hosted email takes mechanisms too, as long as it keeps ours; nothing else of hosted email can be changed. */
  patch(domainId: string, recordId: string, input?: DomainDNSRecordPatchInput, options?: CallOptions): Promise<DNSRecord> {
    return this.client.call({ method: 'PATCH', path: path`/v1/domains/${domainId}/dns-records/${recordId}`, body: input ?? {} }, options)
  }

  /** Replace a DNS record. The content must match the type. MX and SRV records need a priority. A CNAME cannot be beside other records of its name, nor at the apex. A name has one SPF record. The record keeps its id. */
  update(domainId: string, recordId: string, input: DomainDNSRecordUpdateInput, options?: CallOptions): Promise<DNSRecord> {
    return this.client.call({ method: 'PUT', path: path`/v1/domains/${domainId}/dns-records/${recordId}`, body: input }, options)
  }
}

/** The operations `domains.email.*`. */
export class DomainsEmailResource extends Resource {

  /** Turn hosted email off for a domain. Removes the records that turning it on wrote. The signing keys are kept for the next time. */
  disable(domainId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/domains/${domainId}/email` }, options)
  }

  /** Turn hosted email on for a domain. Writes the MX, SPF, DKIM and DMARC records of the domain and its subdomains into its zone; MX only where the purpose is general. A domain that was registered here has them from the start. The zone of another must be delegated to our name servers, or its records copied from the answer to GET. Your own SPF and DMARC records stay, and ours are not written beside them. With the mode sending there is no MX: mail is received where it is today. Calling it again adds what is missing, and changes the mode if it names another. */
  enable(domainId: string, input?: DomainEmailEnableInput, options?: CallOptions): Promise<Domain> {
    return this.client.call({ method: 'POST', path: path`/v1/domains/${domainId}/email`, body: input ?? {} }, options)
  }

  /** Get the records of hosted email, and what the DNS has of them. Looks every record of the domain or subdomain up in the DNS. Where the zone is not delegated to our name servers, these are the records to copy to where it is. Without email there are none. */
  get(domainId: string, options?: CallOptions): Promise<EmailSetup> {
    return this.client.call({ method: 'GET', path: path`/v1/domains/${domainId}/email` }, options)
  }
}

/** The operations `domains.registration.contact.*`. */
export class DomainsRegistrationContactResource extends Resource {

  /** Get the registrant of a domain. */
  get(domainId: string, options?: CallOptions): Promise<DomainContact> {
    return this.client.call({ method: 'GET', path: path`/v1/domains/${domainId}/registration/contact` }, options)
  }

  /** Change the registrant of a domain, at the registrar too. Domains that share the contact change with it. A new name, organization or email makes the registrar verify the registrant again. */
  update(domainId: string, input?: DomainRegistrationContactUpdateInput, options?: CallOptions): Promise<DomainContact> {
    return this.client.call({ method: 'PATCH', path: path`/v1/domains/${domainId}/registration/contact`, body: input ?? {} }, options)
  }
}

/** The operations `domains.registration.*`. */
export class DomainsRegistrationResource extends Resource {
  readonly contact = new DomainsRegistrationContactResource(this.client)

  /** Withdraw a transfer to another registrar. */
  cancelTransfer(domainId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/domains/${domainId}/registration/transfer` }, options)
  }

  /** Get the registration of a domain. */
  get(domainId: string, options?: CallOptions): Promise<Registration> {
    return this.client.call({ method: 'GET', path: path`/v1/domains/${domainId}/registration` }, options)
  }

  /** Ask to leave for another registrar. The answer shows, once, the code that the other registrar asks for. The transfer ends when the domain has left. */
  transfer(domainId: string, options?: CallOptions): Promise<TransferStarted> {
    return this.client.call({ method: 'POST', path: path`/v1/domains/${domainId}/registration/transfer` }, options)
  }

  /** Turn the transfer lock or the automatic renewal on or off. */
  update(domainId: string, input?: DomainRegistrationUpdateInput, options?: CallOptions): Promise<Registration> {
    return this.client.call({ method: 'PATCH', path: path`/v1/domains/${domainId}/registration`, body: input ?? {} }, options)
  }
}

/** The operations `domains.subdomains.*`. */
export class DomainsSubdomainsResource extends Resource {

  /** Add a subdomain. It is active at once: the domain above it is verified already. Where that has hosted email, the subdomain's records follow in a moment. */
  create(domainId: string, input: DomainSubdomainCreateInput, options?: CallOptions): Promise<Domain> {
    return this.client.call({ method: 'POST', path: path`/v1/domains/${domainId}/subdomains`, body: input }, options)
  }

  /** Remove a subdomain. */
  delete(domainId: string, subdomainId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/domains/${domainId}/subdomains/${subdomainId}` }, options)
  }

  /** Get a subdomain. */
  get(domainId: string, subdomainId: string, options?: CallOptions): Promise<Domain> {
    return this.client.call({ method: 'GET', path: path`/v1/domains/${domainId}/subdomains/${subdomainId}` }, options)
  }

  /** List a domain's subdomains, newest first. */
  list(domainId: string, params?: DomainSubdomainListParams, options?: CallOptions): Pages<Domain> {
    return this.client.list(path`/v1/domains/${domainId}/subdomains`, params, false, options)
  }
}

/** The operations `domains.*`. */
export class DomainsResource extends Resource {
  readonly dnsRecords = new DomainsDnsRecordsResource(this.client)
  readonly email = new DomainsEmailResource(this.client)
  readonly registration = new DomainsRegistrationResource(this.client)
  readonly subdomains = new DomainsSubdomainsResource(this.client)

  /** Add a domain that is registered elsewhere. The answer names the TXT record to publish; then call verify. That call also finds out whether another organization has the name. */
  create(input: DomainCreateInput, options?: CallOptions): Promise<Domain> {
    return this.client.call({ method: 'POST', path: '/v1/domains', body: input }, options)
  }

  /** Delete a domain. A registered domain must have expired or left, and have no records, renewal, transfer or subdomains. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/domains/${id}` }, options)
  }

  /** Get a domain or subdomain. */
  get(id: string, options?: CallOptions): Promise<Domain> {
    return this.client.call({ method: 'GET', path: path`/v1/domains/${id}` }, options)
  }

  /** List domains, newest first. Subdomains are listed under their domain. */
  list(params?: DomainListParams, options?: CallOptions): Pages<Domain> {
    return this.client.list('/v1/domains', params, true, options)
  }

  /** Quote the price of a registration. */
  quote(params: DomainQuoteParams, options?: CallOptions): Promise<Quote> {
    return this.client.call({ method: 'GET', path: '/v1/domain-registrations/quote', query: params }, options)
  }

  /** Register a domain and charge the default card. The registration continues after the answer; follow it at /v1/operations/{operationId}. Availability and price are checked again before the charge. WHOIS privacy is always on, and the transfer lock is turned on. A registration that fails is refunded. */
  register(input: DomainRegisterInput, options?: CallOptions): Promise<Accepted> {
    return this.client.call({ method: 'POST', path: '/v1/domain-registrations', body: input }, options)
  }

  /** Renew a registered domain and charge the default card. The renewal continues after the answer; follow it at /v1/operations/{operationId}. */
  renew(id: string, input: DomainRenewInput, options?: CallOptions): Promise<Accepted> {
    return this.client.call({ method: 'POST', path: path`/v1/domains/${id}/registration/renew`, body: input }, options)
  }

  /** Quote the price of a renewal. */
  renewQuote(id: string, params?: DomainRenewQuoteParams, options?: CallOptions): Promise<RenewalQuote> {
    return this.client.call({ method: 'GET', path: path`/v1/domains/${id}/registration/renew/quote`, query: params }, options)
  }

  /** Search for names that can be registered. A name with an ending is checked and offered under the other endings; a single label is checked under all. */
  search(params: DomainSearchParams, options?: CallOptions): Promise<Search> {
    return this.client.call({ method: 'GET', path: '/v1/domain-registrations/search', query: params }, options)
  }

  /** Look for the TXT record that proves a domain. Looks the record up in the DNS. A domain that is active already stays so. */
  verify(id: string, options?: CallOptions): Promise<Domain> {
    return this.client.call({ method: 'POST', path: path`/v1/domains/${id}/verify` }, options)
  }
}

/** The operations `email_opt_ins.*`. */
export class EmailOptInsResource extends Resource {

  /** Create, change and delete up to 500 email opt ins at once. A row with an id changes, {id, delete: true} deletes, one without an id creates. The answer has a status with data or error for each row, in order. 25 rows count as one request. */
  batch(input: EmailOptInBatchInput, options?: CallOptions): Promise<BatchResult<EmailOptIn>[]> {
    return this.client.call({ method: 'POST', path: '/v1/email-opt-ins/batch', body: input }, options)
  }

  /** Record whether an address wants marketing mail. For an import, optedInAt and optedOutAt say when it happened; otherwise it is now. Addresses are compared ignoring case. */
  create(input: EmailOptInCreateInput, options?: CallOptions): Promise<EmailOptIn> {
    return this.client.call({ method: 'POST', path: '/v1/email-opt-ins', body: input }, options)
  }

  /** Delete an email opt-in; the address no longer gets marketing mail. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/email-opt-ins/${id}` }, options)
  }

  /** Export email opt ins as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that a spreadsheet would take for a formula begins with an apostrophe. */
  export(params?: EmailOptInExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/exports/email-opt-ins.csv', query: params }, options)
  }

  /** Get an email opt-in. */
  get(id: string, options?: CallOptions): Promise<EmailOptIn> {
    return this.client.call({ method: 'GET', path: path`/v1/email-opt-ins/${id}` }, options)
  }

  /** List email opt ins, newest first. */
  list(params?: EmailOptInListParams, options?: CallOptions): Pages<EmailOptIn> {
    return this.client.list('/v1/email-opt-ins', params, true, options)
  }

  /** Restore a deleted email opt-in. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<EmailOptIn> {
    return this.client.call({ method: 'POST', path: path`/v1/email-opt-ins/${id}/restore` }, options)
  }

  /** Change an email opt-in. A new status sets optedInAt or optedOutAt to now. */
  update(id: string, input?: EmailOptInUpdateInput, options?: CallOptions): Promise<EmailOptIn> {
    return this.client.call({ method: 'PATCH', path: path`/v1/email-opt-ins/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `email_templates.*`. */
export class EmailTemplatesResource extends Resource {

  /** Create an email template. Placeholders like {{ customer.name }} and {{ name | default: "there" }} name values, and nothing else: there is no logic. The active template with a templateKey is used for the service's own mail of that kind; there can be only one. */
  create(input: EmailTemplateCreateInput, options?: CallOptions): Promise<EmailTemplate> {
    return this.client.call({ method: 'POST', path: '/v1/email-templates', body: input }, options)
  }

  /** Delete an email template. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/email-templates/${id}` }, options)
  }

  /** Get an email template. */
  get(id: string, options?: CallOptions): Promise<EmailTemplate> {
    return this.client.call({ method: 'GET', path: path`/v1/email-templates/${id}` }, options)
  }

  /** List email templates, newest first. */
  list(params?: EmailTemplateListParams, options?: CallOptions): Pages<EmailTemplate> {
    return this.client.list('/v1/email-templates', params, true, options)
  }

  /** Render an email template with values. Nothing is stored or sent. Values appear as they are, never as Markdown or HTML. A variable without a value or default is refused. With a businessId, html and text are the whole mail, in the letterhead of that business. */
  preview(id: string, input?: EmailTemplatePreviewInput, options?: CallOptions): Promise<Rendered> {
    return this.client.call({ method: 'POST', path: path`/v1/email-templates/${id}/preview`, body: input ?? {} }, options)
  }

  /** Restore a deleted email template. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<EmailTemplate> {
    return this.client.call({ method: 'POST', path: path`/v1/email-templates/${id}/restore` }, options)
  }

  /** Change fields of an email template. */
  update(id: string, input?: EmailTemplateUpdateInput, options?: CallOptions): Promise<EmailTemplate> {
    return this.client.call({ method: 'PATCH', path: path`/v1/email-templates/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `events.*`. */
export class EventsResource extends Resource {

  /** Get an event. */
  get(id: string, options?: CallOptions): Promise<Event> {
    return this.client.call({ method: 'GET', path: path`/v1/events/${id}` }, options)
  }

  /** List events, newest first. Events feed webhooks and automations, and are the audit trail. */
  list(params?: EventListParams, options?: CallOptions): Pages<Event> {
    return this.client.list('/v1/events', params, true, options)
  }
}

/** The operations `files.access_links.*`. */
export class FilesAccessLinksResource extends Resource {

  /** Create a public link to a file. The url is shown only in this answer. Without expiresAt and maxDownloads the link works until it or the file is deleted. */
  create(fileId: string, input?: FileAccessLinkCreateInput, options?: CallOptions): Promise<AccessLink> {
    return this.client.call({ method: 'POST', path: path`/v1/files/${fileId}/access-links`, body: input ?? {} }, options)
  }

  /** Remove an access link from a file. */
  delete(fileId: string, accessLinkId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/files/${fileId}/access-links/${accessLinkId}` }, options)
  }

  /** Get the bytes of a file by its access link. Every GET counts as a download, even of a part (Range); a HEAD does not. A link that is expired, used up, deleted or unknown is not found. */
  download(token: string, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: path`/f/${token}` }, options)
  }

  /** Get an access link of a file. */
  get(fileId: string, accessLinkId: string, options?: CallOptions): Promise<AccessLink> {
    return this.client.call({ method: 'GET', path: path`/v1/files/${fileId}/access-links/${accessLinkId}` }, options)
  }

  /** List a file's access links, newest first. */
  list(fileId: string, params?: FileAccessLinkListParams, options?: CallOptions): Pages<AccessLink> {
    return this.client.list(path`/v1/files/${fileId}/access-links`, params, false, options)
  }
}

/** The operations `files.*`. */
export class FilesResource extends Resource {
  readonly accessLinks = new FilesAccessLinksResource(this.client)

  /** Delete a file. Its access links stop working at once. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/files/${id}` }, options)
  }

  /** Get the bytes of a file. Answers with the file's own content type, always as an attachment. Supports Range, and If-None-Match with the ETag. */
  download(id: string, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: path`/v1/files/${id}/content` }, options)
  }

  /** Get a file's metadata. */
  get(id: string, options?: CallOptions): Promise<File> {
    return this.client.call({ method: 'GET', path: path`/v1/files/${id}` }, options)
  }

  /** List files, newest first. */
  list(params?: FileListParams, options?: CallOptions): Pages<File> {
    return this.client.list('/v1/files', params, true, options)
  }

  /** Read a file as text: text, CSV, HTML, PDF or mail. 20000 characters from offset on; send nextOffset as offset to read on. Pictures and scans have no text. */
  read(id: string, params?: FileReadParams, options?: CallOptions): Promise<FileText> {
    return this.client.call({ method: 'GET', path: path`/v1/files/${id}/text`, query: params }, options)
  }

  /** Restore a deleted file. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<File> {
    return this.client.call({ method: 'POST', path: path`/v1/files/${id}/restore` }, options)
  }

  /** Rename a file or move it to another folder. A null folderId takes it out of its folder. */
  update(id: string, input?: FileUpdateInput, options?: CallOptions): Promise<File> {
    return this.client.call({ method: 'PATCH', path: path`/v1/files/${id}`, body: input ?? {} }, options)
  }

  /** Upload a file. The body is a form with the part file, and optionally name and folderId, in any order. The name is by default that of the part, without its path; the content type is detected from the bytes. Idempotency keys do not apply. */
  upload(input: FileUploadInput, options?: CallOptions): Promise<File> {
    return this.client.call({ method: 'POST', path: '/v1/files', form: input }, options)
  }
}

/** The operations `folders.*`. */
export class FoldersResource extends Resource {

  /** Create a folder. */
  create(input: FolderCreateInput, options?: CallOptions): Promise<Folder> {
    return this.client.call({ method: 'POST', path: '/v1/folders', body: input }, options)
  }

  /** Delete an empty folder. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/folders/${id}` }, options)
  }

  /** Get a folder. */
  get(id: string, options?: CallOptions): Promise<Folder> {
    return this.client.call({ method: 'GET', path: path`/v1/folders/${id}` }, options)
  }

  /** List folders, newest first. */
  list(params?: FolderListParams, options?: CallOptions): Pages<Folder> {
    return this.client.list('/v1/folders', params, true, options)
  }

  /** Restore a deleted folder. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<Folder> {
    return this.client.call({ method: 'POST', path: path`/v1/folders/${id}/restore` }, options)
  }

  /** Rename a folder or move it into another. A null parentFolderId moves it to the top level. */
  update(id: string, input?: FolderUpdateInput, options?: CallOptions): Promise<Folder> {
    return this.client.call({ method: 'PATCH', path: path`/v1/folders/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `imports.*`. */
export class ImportsResource extends Resource {

  /** Import contacts or customers from a CSV or vCard file. A record changes what has its externalId or, of a contact, one of its emails, and else creates. Fields that are changed are those that the file has a value for; tags are added; emails, numbers and addresses are for new contacts. Without mapping, columns are known by their headings. A record that is wrong is named in errors, and the others are imported. A dry run stores nothing, and answers 200 with what each line would do, 1,000 at a time: linesAction and linesOffset say which. */
  create(input: ImportCreateInput, options?: CallOptions): Promise<Import> {
    return this.client.call({ method: 'POST', path: '/v1/imports', form: input }, options)
  }

  /** Get an import, with its progress. The events of what it changes have its id as requestId. */
  get(id: string, options?: CallOptions): Promise<Import> {
    return this.client.call({ method: 'GET', path: path`/v1/imports/${id}` }, options)
  }

  /** List imports, newest first. */
  list(params?: ImportListParams, options?: CallOptions): Pages<Import> {
    return this.client.list('/v1/imports', params, true, options)
  }
}

/** The operations `invoices.credit_notes.*`. */
export class InvoicesCreditNotesResource extends Resource {

  /** Credit an issued invoice: all that is left of it, an amount, or some lines. Without lineItems and amountCents, all that is left is credited, whether it was paid or not. amountCents is credited of all lines in proportion. Discount and tax follow in proportion. A credit in the customer's ledger takes it back, and less is due; an invoice of which nothing is due is paid. What was paid before can be refunded: the invoice's amountToRefundCents says how much. */
  create(invoiceId: string, input?: InvoiceCreditNoteCreateInput, options?: CallOptions): Promise<CreditNote> {
    return this.client.call({ method: 'POST', path: path`/v1/invoices/${invoiceId}/credit-notes`, body: input ?? {} }, options)
  }

  /** Get a credit note of an invoice. */
  get(invoiceId: string, creditNoteId: string, options?: CallOptions): Promise<CreditNote> {
    return this.client.call({ method: 'GET', path: path`/v1/invoices/${invoiceId}/credit-notes/${creditNoteId}` }, options)
  }

  /** List an invoice's credit notes, newest first. */
  list(invoiceId: string, params?: InvoiceCreditNoteListParams, options?: CallOptions): Pages<CreditNote> {
    return this.client.list(path`/v1/invoices/${invoiceId}/credit-notes`, params, false, options)
  }

  /** Get a credit note as a PDF. */
  pdf(invoiceId: string, creditNoteId: string, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: path`/v1/invoices/${invoiceId}/credit-notes/${creditNoteId}/pdf` }, options)
  }
}

/** The operations `invoices.payments.*`. */
export class InvoicesPaymentsResource extends Resource {

  /** Get a payment of an invoice. */
  get(invoiceId: string, paymentId: string, options?: CallOptions): Promise<Payment> {
    return this.client.call({ method: 'GET', path: path`/v1/invoices/${invoiceId}/payments/${paymentId}` }, options)
  }

  /** List an invoice's payments, newest first. */
  list(invoiceId: string, params?: InvoicePaymentListParams, options?: CallOptions): Pages<Payment> {
    return this.client.list(path`/v1/invoices/${invoiceId}/payments`, params, false, options)
  }

  /** Record that a payment was given back, all that is left of it or a part. A charge in the customer's ledger reverses it. It is due again, unless it was credited; the invoice's status goes back. */
  refund(invoiceId: string, paymentId: string, input?: InvoicePaymentRefundInput, options?: CallOptions): Promise<Payment> {
    return this.client.call({ method: 'POST', path: path`/v1/invoices/${invoiceId}/payments/${paymentId}/refund`, body: input ?? {} }, options)
  }

  /** Void a payment that was recorded by mistake or bounced. The invoice's status goes back, and a charge in the customer's ledger reverses the payment. */
  void(invoiceId: string, paymentId: string, options?: CallOptions): Promise<Payment> {
    return this.client.call({ method: 'POST', path: path`/v1/invoices/${invoiceId}/payments/${paymentId}/void` }, options)
  }
}

/** The operations `invoices.*`. */
export class InvoicesResource extends Resource {
  readonly creditNotes = new InvoicesCreditNotesResource(this.client)
  readonly payments = new InvoicesPaymentsResource(this.client)

  /** Draft an invoice. Missing billTo fields are filled in from the customer and its contact; an address is taken as a whole or not at all. Amounts are in the currency's smallest unit; a negative unitAmountCents is a discount. Line items take a taxRate, and a discount in per cent or in cents. Each tax is rounded once, over the whole invoice. */
  create(input: InvoiceCreateInput, options?: CallOptions): Promise<Invoice> {
    return this.client.call({ method: 'POST', path: '/v1/invoices', body: input }, options)
  }

  /** Delete a draft. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/invoices/${id}` }, options)
  }

  /** Export invoices as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that a spreadsheet would take for a formula begins with an apostrophe. */
  export(params?: InvoiceExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/exports/invoices.csv', query: params }, options)
  }

  /** Get an invoice with its line items. */
  get(id: string, options?: CallOptions): Promise<Invoice> {
    return this.client.call({ method: 'GET', path: path`/v1/invoices/${id}` }, options)
  }

  /** Issue a draft: it gets its number and can no longer be changed. The customer's ledger includes it from now on. A total of zero is paid at once. */
  issue(id: string, options?: CallOptions): Promise<Invoice> {
    return this.client.call({ method: 'POST', path: path`/v1/invoices/${id}/issue` }, options)
  }

  /** List invoices, newest first. */
  list(params?: InvoiceListParams, options?: CallOptions): Pages<Invoice> {
    return this.client.list('/v1/invoices', params, true, options)
  }

  /** Get an invoice as a PDF. Dates and amounts follow the business's locale and time zone. A draft or void invoice is marked as such. */
  pdf(id: string, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: path`/v1/invoices/${id}/pdf` }, options)
  }

  /** Get the PDF of the invoice that a link in a mail names. A link of an invoice that is void or deleted is not found. */
  publicPdf(token: string, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: path`/invoice-pdf/${token}` }, options)
  }

  /** Record a payment of an invoice. The idempotency key stays bound to the payment for good. Repeating it with the same invoice, amountCents, paidAt (or none) and note answers with the recorded payment; anything else is refused. */
  recordPayment(id: string, input: InvoiceRecordPaymentInput, options?: CallOptions): Promise<Payment> {
    return this.client.call({ method: 'POST', path: path`/v1/invoices/${id}/payments`, body: input }, options)
  }

  /** Restore a deleted invoice. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<Invoice> {
    return this.client.call({ method: 'POST', path: path`/v1/invoices/${id}/restore` }, options)
  }

  /** Mail an issued invoice as a PDF, or a reminder of it. The text is the organization's active template with the templateKey, or a built-in one. An invoice can be sent again. With scheduledAt the mail is written now, as the invoice is now, and leaves then; until then the message can be canceled. */
  send(id: string, input?: InvoiceSendInput, options?: CallOptions): Promise<Invoice> {
    return this.client.call({ method: 'POST', path: path`/v1/invoices/${id}/send`, body: input ?? {} }, options)
  }

  /** Add up invoices, by currency. The filters are those of the list. All invoices that match are added up, void ones left out. Amounts of different currencies are never added. */
  totals(params?: InvoiceTotalsParams, options?: CallOptions): Promise<Totals> {
    return this.client.call({ method: 'GET', path: '/v1/invoices/totals', query: params }, options)
  }

  /** Change fields of a draft. lineItems replaces all line items. With another customerId, billTo fields that were never sent are filled in again. */
  update(id: string, input?: InvoiceUpdateInput, options?: CallOptions): Promise<Invoice> {
    return this.client.call({ method: 'PATCH', path: path`/v1/invoices/${id}`, body: input ?? {} }, options)
  }

  /** Void an issued invoice that has no payments and no credit notes. It keeps its number. A credit in the customer's ledger reverses it. */
  void(id: string, options?: CallOptions): Promise<Invoice> {
    return this.client.call({ method: 'POST', path: path`/v1/invoices/${id}/void` }, options)
  }
}

/** The operations `me.*`. */
export class MeResource extends Resource {

  /** Show who the caller acts for: organization, business, plan and permissions. Also tells the business's timezone, locale and currency, the service's time, and an agent's limits with their use. */
  get(options?: CallOptions): Promise<Me> {
    return this.client.call({ method: 'GET', path: '/v1/me' }, options)
  }
}

/** The operations `members.*`. */
export class MembersResource extends Resource {

  /** List the members of the organization, to find whom to assign a task to. The newest come first. Disabled users are left out, as they cannot be assigned. */
  list(params?: MemberListParams, options?: CallOptions): Pages<Colleague> {
    return this.client.list('/v1/members', params, false, options)
  }

  /** Set what a member may do: spend, decide what agents propose, and the permissions. For owners and admins, and for API keys with the permission * that one of them made. Owners and admins always may do everything, so nothing can be set for them. */
  update(id: string, input?: MemberUpdateInput, options?: CallOptions): Promise<Colleague> {
    return this.client.call({ method: 'PATCH', path: path`/v1/members/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `messages.attachments.*`. */
export class MessagesAttachmentsResource extends Resource {

  /** Attach a file to a draft. The attachments of a message may have 18 MiB in total. */
  create(messageId: string, input: MessageAttachmentCreateInput, options?: CallOptions): Promise<MessageAttachment> {
    return this.client.call({ method: 'POST', path: path`/v1/messages/${messageId}/attachments`, body: input }, options)
  }

  /** Remove an attachment from a draft. The file stays. */
  delete(messageId: string, attachmentId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/messages/${messageId}/attachments/${attachmentId}` }, options)
  }

  /** Get an attachment of a message. Fetch the bytes through its file. */
  get(messageId: string, attachmentId: string, options?: CallOptions): Promise<MessageAttachment> {
    return this.client.call({ method: 'GET', path: path`/v1/messages/${messageId}/attachments/${attachmentId}` }, options)
  }

  /** List a message's attachments, newest first. */
  list(messageId: string, params?: MessageAttachmentListParams, options?: CallOptions): Pages<MessageAttachment> {
    return this.client.list(path`/v1/messages/${messageId}/attachments`, params, false, options)
  }
}

/** The operations `messages.contacts.*`. */
export class MessagesContactsResource extends Resource {

  /** Link a contact to a message. Contacts with an address of the message are linked automatically. */
  create(messageId: string, input: MessageContactCreateInput, options?: CallOptions): Promise<MessageContact> {
    return this.client.call({ method: 'POST', path: path`/v1/messages/${messageId}/contacts`, body: input }, options)
  }

  /** Unlink a contact from a message. messageContactId is the id of the link, not of the contact. */
  delete(messageId: string, messageContactId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/messages/${messageId}/contacts/${messageContactId}` }, options)
  }

  /** List a message's contacts, newest first. */
  list(messageId: string, params?: MessageContactListParams, options?: CallOptions): Pages<MessageContact> {
    return this.client.list(path`/v1/messages/${messageId}/contacts`, params, false, options)
  }
}

/** The operations `messages.*`. */
export class MessagesResource extends Resource {
  readonly attachments = new MessagesAttachmentsResource(this.client)
  readonly contacts = new MessagesContactsResource(this.client)

  /** Cancel a message before it is sent. Works while the message is scheduled or queued and nobody has received it. */
  cancel(id: string, options?: CallOptions): Promise<Message> {
    return this.client.call({ method: 'POST', path: path`/v1/messages/${id}/cancel` }, options)
  }

  /** Write a message, and send it unless it is a draft. It is sent at scheduledAt, otherwise at once; a draft waits for messages.send. to, cc and bcc take one address or an array, without names. from may have a name: "Business name" <name@example.com>; without one it is the business's. A message needs a subject, or a template that has one; without text, it is derived from the HTML. With inReplyToId, to and subject may be left out. Marketing mail goes to each recipient alone, and only to addresses that opted in. */
  create(input?: MessageCreateInput, options?: CallOptions): Promise<Message> {
    return this.client.call({ method: 'POST', path: '/v1/messages', body: input ?? {} }, options)
  }

  /** Delete a draft. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/messages/${id}` }, options)
  }

  /** Get a message. */
  get(id: string, options?: CallOptions): Promise<Message> {
    return this.client.call({ method: 'GET', path: path`/v1/messages/${id}` }, options)
  }

  /** List messages, newest first. */
  list(params?: MessageListParams, options?: CallOptions): Pages<Message> {
    return this.client.list('/v1/messages', params, true, options)
  }

  /** Send a draft. It is sent at scheduledAt if that is in the future, otherwise at once. */
  send(id: string, options?: CallOptions): Promise<Message> {
    return this.client.call({ method: 'POST', path: path`/v1/messages/${id}/send` }, options)
  }

  /** Make a scheduled message a draft again. Works until its time has come. It can then be changed and sent. */
  unschedule(id: string, options?: CallOptions): Promise<Message> {
    return this.client.call({ method: 'POST', path: path`/v1/messages/${id}/unschedule` }, options)
  }

  /** Change fields of a draft. fileIds replaces all attachments. A templateId renders again, with variables. */
  update(id: string, input?: MessageUpdateInput, options?: CallOptions): Promise<Message> {
    return this.client.call({ method: 'PATCH', path: path`/v1/messages/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `notifications.*`. */
export class NotificationsResource extends Resource {

  /** List your notifications, newest first. A key or an agent reads those of its maker, and of these what it may read itself. */
  list(params?: NotificationListParams, options?: CallOptions): Pages<Notification> {
    return this.client.list('/v1/notifications', params, true, options)
  }

  /** Mark notifications as read. Without ids, all of them. */
  read(input?: NotificationReadInput, options?: CallOptions): Promise<Unread> {
    return this.client.call({ method: 'POST', path: '/v1/notifications/read', body: input ?? {} }, options)
  }
}

/** The operations `operations.*`. */
export class OperationsResource extends Resource {

  /** Get the progress of a registration or renewal. */
  get(id: string, options?: CallOptions): Promise<Operation> {
    return this.client.call({ method: 'GET', path: path`/v1/operations/${id}` }, options)
  }

  /** List registrations and renewals that were paid for, newest first. */
  list(params?: OperationListParams, options?: CallOptions): Pages<Operation> {
    return this.client.list('/v1/operations', params, true, options)
  }
}

/** The operations `property_definitions.*`. */
export class PropertyDefinitionsResource extends Resource {

  /** Define a property of contacts, customers or businesses. A select or multi_select needs options. Key, object type and value type never change. */
  create(input: PropertyDefinitionCreateInput, options?: CallOptions): Promise<PropertyDefinition> {
    return this.client.call({ method: 'POST', path: '/v1/property-definitions', body: input }, options)
  }

  /** Delete a property definition and all its values. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/property-definitions/${id}` }, options)
  }

  /** Get a property definition. */
  get(id: string, options?: CallOptions): Promise<PropertyDefinition> {
    return this.client.call({ method: 'GET', path: path`/v1/property-definitions/${id}` }, options)
  }

  /** List property definitions, newest first. */
  list(params?: PropertyDefinitionListParams, options?: CallOptions): Pages<PropertyDefinition> {
    return this.client.list('/v1/property-definitions', params, true, options)
  }

  /** Restore a deleted property definition. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<PropertyDefinition> {
    return this.client.call({ method: 'POST', path: path`/v1/property-definitions/${id}/restore` }, options)
  }

  /** Change a property definition. Values with a removed option stay as they are. */
  update(id: string, input?: PropertyDefinitionUpdateInput, options?: CallOptions): Promise<PropertyDefinition> {
    return this.client.call({ method: 'PATCH', path: path`/v1/property-definitions/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `proposals.*`. */
export class ProposalsResource extends Resource {

  /** Withdraw a proposal that was not carried out. */
  cancel(id: string, options?: CallOptions): Promise<Proposal> {
    return this.client.call({ method: 'POST', path: path`/v1/proposals/${id}/cancel` }, options)
  }

  /** Rehearse operation calls and propose them. The steps run for real and are undone; a planned one is yours to execute, a pending one waits for a person. effects[] tells what the steps would do. It is planned when you may do every step yourself; not executed, it is a dry run. A step's texts may have placeholders over what earlier steps saved. */
  create(input: ProposalCreateInput, options?: CallOptions): Promise<Proposal> {
    return this.client.call({ method: 'POST', path: '/v1/proposals', body: input }, options)
  }

  /** Carry out a planned proposal, exactly as it was shown. */
  execute(id: string, options?: CallOptions): Promise<Proposal> {
    return this.client.call({ method: 'POST', path: path`/v1/proposals/${id}/execute` }, options)
  }

  /** Get a proposal, and wait for its decision. With waitSeconds it answers once the proposal has come to an end, or when the time is up. An agent that waits is then told how it stands without steps and effects, unless view is full. */
  get(id: string, params?: ProposalGetParams, options?: CallOptions): Promise<Proposal> {
    return this.client.call({ method: 'GET', path: path`/v1/proposals/${id}`, query: params }, options)
  }

  /** Waits until it is decided and carried out, or for at most `timeout` milliseconds. */
  wait(id: string, params?: ProposalGetParams, options?: CallOptions & { timeout?: number }): Promise<Proposal> {
    const get = (waitSeconds: number) => this.get(id, { ...params, waitSeconds }, { ...options, timeout: 0 })
    return settled(get, options)
  }

  /** List proposals, newest first. A key or an agent sees its own, a person those of the whole organization. */
  list(params?: ProposalListParams, options?: CallOptions): Pages<Proposal> {
    return this.client.list('/v1/proposals', params, true, options)
  }
}

/** The operations `reports.agents.*`. */
export class ReportsAgentsResource extends Resource {

  /** Get the report agents as CSV. */
  export(params?: ReportAgentExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/reports/agents.csv', query: params }, options)
  }
}

/** The operations `reports.mail.*`. */
export class ReportsMailResource extends Resource {

  /** Get the report mail as CSV. */
  export(params?: ReportMailExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/reports/mail.csv', query: params }, options)
  }
}

/** The operations `reports.receivables.*`. */
export class ReportsReceivablesResource extends Resource {

  /** Get the report receivables as CSV. */
  export(params?: ReportReceivableExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/reports/receivables.csv', query: params }, options)
  }
}

/** The operations `reports.revenue.*`. */
export class ReportsRevenueResource extends Resource {

  /** Get the report revenue as CSV. */
  export(params?: ReportRevenueExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/reports/revenue.csv', query: params }, options)
  }
}

/** The operations `reports.taxes.*`. */
export class ReportsTaxesResource extends Resource {

  /** Get the report taxes as CSV. */
  export(params?: ReportTaxeExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/reports/taxes.csv', query: params }, options)
  }
}

/** The operations `reports.*`. */
export class ReportsResource extends Resource {
  readonly agents = new ReportsAgentsResource(this.client)
  readonly mail = new ReportsMailResource(this.client)
  readonly receivables = new ReportsReceivablesResource(this.client)
  readonly revenue = new ReportsRevenueResource(this.client)
  readonly taxes = new ReportsTaxesResource(this.client)

  /** Add up money, mail or agents' doings over time. revenue: invoiced, received and credited by month, week, quarter, customer or offering. receivables: what is owed now by age or customer; from and to bound the day of issue. taxes: by rate and quarter or month. mail: received, answered, waiting, by member. agents: by agent, for owners and admins. Void invoices and payments do not count, and a refund lowers its payment. */
  get(name: string, params?: ReportGetParams, options?: CallOptions): Promise<Report> {
    return this.client.call({ method: 'GET', path: path`/v1/reports/${name}`, query: params }, options)
  }
}

/** The operations `suggestions.*`. */
export class SuggestionsResource extends Resource {

  /** List the property values that wait for a decision, newest first. Those of contacts, customers and businesses together. Confirm or dismiss one with the update operation of its object's properties. */
  list(params?: SuggestionListParams, options?: CallOptions): Pages<PropertyValue> {
    return this.client.list('/v1/suggestions', params, false, options)
  }
}

/** The operations `tasks.activity.*`. */
export class TasksActivityResource extends Resource {

  /** Comment on a task. */
  create(taskId: string, input: TaskActivityCreateInput, options?: CallOptions): Promise<TaskActivity> {
    return this.client.call({ method: 'POST', path: path`/v1/tasks/${taskId}/activity`, body: input }, options)
  }

  /** List what happened to a task, newest first. */
  list(taskId: string, params?: TaskActivityListParams, options?: CallOptions): Pages<TaskActivity> {
    return this.client.list(path`/v1/tasks/${taskId}/activity`, params, false, options)
  }
}

/** The operations `tasks.assignees.*`. */
export class TasksAssigneesResource extends Resource {

  /** Assign a task to a member of the organization. */
  create(taskId: string, input: TaskAssigneeCreateInput, options?: CallOptions): Promise<TaskAssignee> {
    return this.client.call({ method: 'POST', path: path`/v1/tasks/${taskId}/assignees`, body: input }, options)
  }

  /** Unassign a task. assigneeId is the id of the assignment, not of the user. */
  delete(taskId: string, assigneeId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/tasks/${taskId}/assignees/${assigneeId}` }, options)
  }

  /** List a task's assignees, newest first. */
  list(taskId: string, params?: TaskAssigneeListParams, options?: CallOptions): Pages<TaskAssignee> {
    return this.client.list(path`/v1/tasks/${taskId}/assignees`, params, false, options)
  }
}

/** The operations `tasks.*`. */
export class TasksResource extends Resource {
  readonly activity = new TasksActivityResource(this.client)
  readonly assignees = new TasksAssigneesResource(this.client)

  /** Create, change and delete up to 500 tasks at once. A row with an id changes, {id, delete: true} deletes, one without an id creates. The answer has a status with data or error for each row, in order. 25 rows count as one request. */
  batch(input: TaskBatchInput, options?: CallOptions): Promise<BatchResult<Task>[]> {
    return this.client.call({ method: 'POST', path: '/v1/tasks/batch', body: input }, options)
  }

  /** Create a task. */
  create(input: TaskCreateInput, options?: CallOptions): Promise<Task> {
    return this.client.call({ method: 'POST', path: '/v1/tasks', body: input }, options)
  }

  /** Delete a task. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/tasks/${id}` }, options)
  }

  /** Export tasks as CSV. Takes the filters of the list. Rows are in the order of their creation. A text that a spreadsheet would take for a formula begins with an apostrophe. */
  export(params?: TaskExportParams, options?: CallOptions): Promise<Download> {
    return this.client.download({ method: 'GET', path: '/v1/exports/tasks.csv', query: params }, options)
  }

  /** Get a task. */
  get(id: string, options?: CallOptions): Promise<Task> {
    return this.client.call({ method: 'GET', path: path`/v1/tasks/${id}` }, options)
  }

  /** List tasks, newest first. */
  list(params?: TaskListParams, options?: CallOptions): Pages<Task> {
    return this.client.list('/v1/tasks', params, true, options)
  }

  /** Restore a deleted task. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<Task> {
    return this.client.call({ method: 'POST', path: path`/v1/tasks/${id}/restore` }, options)
  }

  /** Change fields of a task. completedAt follows the status. */
  update(id: string, input?: TaskUpdateInput, options?: CallOptions): Promise<Task> {
    return this.client.call({ method: 'PATCH', path: path`/v1/tasks/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `threads.notes.*`. */
export class ThreadsNotesResource extends Resource {

  /** Add a note to a thread. Notes are for the house alone: no mail ever contains one. */
  create(threadId: string, input: ThreadNoteCreateInput, options?: CallOptions): Promise<ThreadNote> {
    return this.client.call({ method: 'POST', path: path`/v1/threads/${threadId}/notes`, body: input }, options)
  }

  /** Remove a note from a thread. */
  delete(threadId: string, noteId: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/threads/${threadId}/notes/${noteId}` }, options)
  }

  /** List a thread's notes, newest first. */
  list(threadId: string, params?: ThreadNoteListParams, options?: CallOptions): Pages<ThreadNote> {
    return this.client.list(path`/v1/threads/${threadId}/notes`, params, false, options)
  }
}

/** The operations `threads.*`. */
export class ThreadsResource extends Resource {
  readonly notes = new ThreadsNotesResource(this.client)

  /** Get a thread. messages.list with its threadId lists the messages. */
  get(id: string, options?: CallOptions): Promise<Thread> {
    return this.client.call({ method: 'GET', path: path`/v1/threads/${id}` }, options)
  }

  /** List threads, newest first. A thread is what threadId of a message names: the message and all its answers. */
  list(params?: ThreadListParams, options?: CallOptions): Pages<Thread> {
    return this.client.list('/v1/threads', params, true, options)
  }

  /** Change fields of a thread: assign it, snooze it, close it, mark it as read. A received message makes a thread open and unread again, and ends its snooze. The subject is for the house: mail keeps its own. */
  update(id: string, input?: ThreadUpdateInput, options?: CallOptions): Promise<Thread> {
    return this.client.call({ method: 'PATCH', path: path`/v1/threads/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `undo.*`. */
export class UndoResource extends Resource {

  /** Plan how to take back what an agent, a proposal, a request or an import did. Answers with a planned proposal of the inverse steps: execute it to undo. That of an agent is pending, for a person to decide. What somebody changed since stays as it is and is named in skipped[], and so is what cannot be taken back. More than 500 events are taken back in parts, newest first: effects[] shows the first of them, and once executed the only step's result tells how far it has come. */
  create(input?: UndoCreateInput, options?: CallOptions): Promise<Proposal> {
    return this.client.call({ method: 'POST', path: '/v1/undo', body: input ?? {} }, options)
  }
}

/** The operations `views.*`. */
export class ViewsResource extends Resource {

  /** Save a view of a list. Lists and exports take it as viewId. Whoever may change what is listed may save views of it. Only a shared view has events. */
  create(input: ViewCreateInput, options?: CallOptions): Promise<View> {
    return this.client.call({ method: 'POST', path: '/v1/views', body: input }, options)
  }

  /** Delete a saved view. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/views/${id}` }, options)
  }

  /** Get a saved view. */
  get(id: string, options?: CallOptions): Promise<View> {
    return this.client.call({ method: 'GET', path: path`/v1/views/${id}` }, options)
  }

  /** List saved views, newest first. One's own and the shared ones, of the lists that the caller may read. */
  list(params?: ViewListParams, options?: CallOptions): Pages<View> {
    return this.client.list('/v1/views', params, true, options)
  }

  /** Restore a deleted view. */
  restore(id: string, options?: CallOptions): Promise<View> {
    return this.client.call({ method: 'POST', path: path`/v1/views/${id}/restore` }, options)
  }

  /** Change a saved view. A shared view is changed by its maker, owners and admins. */
  update(id: string, input?: ViewUpdateInput, options?: CallOptions): Promise<View> {
    return this.client.call({ method: 'PATCH', path: path`/v1/views/${id}`, body: input ?? {} }, options)
  }
}

/** The operations `webhooks.deliveries.*`. */
export class WebhooksDeliveriesResource extends Resource {

  /** Get a delivery of a webhook. Only this answer has requestBody and history. */
  get(webhookId: string, deliveryId: string, options?: CallOptions): Promise<Delivery> {
    return this.client.call({ method: 'GET', path: path`/v1/webhooks/${webhookId}/deliveries/${deliveryId}` }, options)
  }

  /** List a webhook's deliveries, newest first. Deliveries are kept for 30 days. A retrying one has more attempts to come; a canceled one was not sent, because its webhook was disabled or deleted first. */
  list(webhookId: string, params?: WebhookDeliveryListParams, options?: CallOptions): Pages<Delivery> {
    return this.client.list(path`/v1/webhooks/${webhookId}/deliveries`, params, false, options)
  }

  /** Send a delivery again now. Answers with what came back. Works for every delivery, even one that succeeded, and for a disabled webhook. A failure does not affect the attempts to come. */
  redeliver(webhookId: string, deliveryId: string, options?: CallOptions): Promise<Delivery> {
    return this.client.call({ method: 'POST', path: path`/v1/webhooks/${webhookId}/deliveries/${deliveryId}/redeliver` }, options)
  }
}

/** The operations `webhooks.*`. */
export class WebhooksResource extends Resource {
  readonly deliveries = new WebhooksDeliveriesResource(this.client)

  /** Create a webhook. The secret is shown only in this answer. Deliveries are signed with it as Standard Webhooks says: headers webhook-id, webhook-timestamp and webhook-signature. */
  create(input: WebhookCreateInput, options?: CallOptions): Promise<Webhook> {
    return this.client.call({ method: 'POST', path: '/v1/webhooks', body: input }, options)
  }

  /** Delete a webhook. Waiting deliveries are canceled. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.client.call({ method: 'DELETE', path: path`/v1/webhooks/${id}` }, options)
  }

  /** Get a webhook. disabledReason says why the service disabled it: gone, the endpoint answered 410; failing, nothing came through for three days; maker_left, the member who last set its URL left the organization. */
  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.client.call({ method: 'GET', path: path`/v1/webhooks/${id}` }, options)
  }

  /** List webhooks, newest first. */
  list(params?: WebhookListParams, options?: CallOptions): Pages<Webhook> {
    return this.client.list('/v1/webhooks', params, true, options)
  }

  /** Restore a deleted webhook. Works until deleted rows are purged. References to it that the deletion cleared come back too. */
  restore(id: string, options?: CallOptions): Promise<Webhook> {
    return this.client.call({ method: 'POST', path: path`/v1/webhooks/${id}/restore` }, options)
  }

  /** Give a webhook a new secret. The secret is shown only in this answer. For 24 hours both the new and the previous secret sign, so that the receiver can switch at its own pace. Another rotation in that time ends the oldest at once. */
  rotateSecret(id: string, options?: CallOptions): Promise<Webhook> {
    return this.client.call({ method: 'POST', path: path`/v1/webhooks/${id}/rotate-secret` }, options)
  }

  /** Send a test event to a webhook now. Sends a signed event of the type webhook.test and answers with what came back. It is not retried. Works for a disabled webhook too. */
  test(id: string, options?: CallOptions): Promise<Delivery> {
    return this.client.call({ method: 'POST', path: path`/v1/webhooks/${id}/test` }, options)
  }

  /** Change fields of a webhook. Disabling it cancels the deliveries that are waiting. Events of that time are not sent later. */
  update(id: string, input?: WebhookUpdateInput, options?: CallOptions): Promise<Webhook> {
    return this.client.call({ method: 'PATCH', path: path`/v1/webhooks/${id}`, body: input ?? {} }, options)
  }
}

/** The API of a Frontdesk server. */
export class Frontdesk extends Client {
  readonly automationExecutions = new AutomationExecutionsResource(this)
  readonly automations = new AutomationsResource(this)
  readonly businesses = new BusinessesResource(this)
  readonly contacts = new ContactsResource(this)
  readonly customers = new CustomersResource(this)
  readonly domainContacts = new DomainContactsResource(this)
  readonly domains = new DomainsResource(this)
  readonly emailOptIns = new EmailOptInsResource(this)
  readonly emailTemplates = new EmailTemplatesResource(this)
  readonly events = new EventsResource(this)
  readonly files = new FilesResource(this)
  readonly folders = new FoldersResource(this)
  readonly imports = new ImportsResource(this)
  readonly invoices = new InvoicesResource(this)
  readonly me = new MeResource(this)
  readonly members = new MembersResource(this)
  readonly messages = new MessagesResource(this)
  readonly notifications = new NotificationsResource(this)
  readonly operations = new OperationsResource(this)
  readonly propertyDefinitions = new PropertyDefinitionsResource(this)
  readonly proposals = new ProposalsResource(this)
  readonly reports = new ReportsResource(this)
  readonly suggestions = new SuggestionsResource(this)
  readonly tasks = new TasksResource(this)
  readonly threads = new ThreadsResource(this)
  readonly undo = new UndoResource(this)
  readonly views = new ViewsResource(this)
  readonly webhooks = new WebhooksResource(this)

  constructor(options: ClientOptions = {}) {
    super(options)
  }
}
