-- Mail that was written, sent or received, and what it is joined to.

-- A contact, a customer, a template and the message that it answers are named,
-- not owned: the purge of each makes the reference null. internet_id is the
-- Message-ID of the mail without its brackets, fixed before the first attempt
-- to send it; reference_ids are those of the mails that it follows.
CREATE TABLE messages (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  direction TEXT NOT NULL,
  status TEXT NOT NULL,
  purpose TEXT NOT NULL,
  thread_id ID NOT NULL,
  in_reply_to_id ID,
  from_address TEXT NOT NULL,
  reply_to TEXT,
  to_addresses JSON NOT NULL,
  cc_addresses JSON NOT NULL,
  bcc_addresses JSON NOT NULL,
  subject TEXT NOT NULL,
  text_body TEXT,
  html_body TEXT,
  template_id ID,
  contact_id ID,
  customer_id ID,
  scheduled_at TIME,
  sent_at TIME,
  error_message TEXT,
  internet_id TEXT NOT NULL,
  reference_ids JSON NOT NULL,
  attachment_count INT NOT NULL,
  search TEXT NOT NULL,
  size_bytes INT NOT NULL,
-- Mail that no person wrote (RFC 3834): received mail that says so, and what an
-- automation or the service itself sends. chain is what led to a message that
-- is sent, as events have it, so that what becomes of it goes on with it.
  auto_submitted BOOL NOT NULL DEFAULT FALSE,
  chain JSON
);
-- Sums up what an organization stores, deleted rows too.
CREATE INDEX messages_bytes ON messages (organization_id, size_bytes);
CREATE INDEX messages_list ON messages (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX messages_deleted ON messages (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX messages_status ON messages (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX messages_direction ON messages (organization_id, direction, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX messages_thread ON messages (organization_id, thread_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- Deleted rows too, for the purges of what is named.
CREATE INDEX messages_contact ON messages (organization_id, contact_id, created_at DESC, seq DESC) WHERE contact_id IS NOT NULL;
CREATE INDEX messages_customer ON messages (organization_id, customer_id, created_at DESC, seq DESC) WHERE customer_id IS NOT NULL;
CREATE INDEX messages_template ON messages (organization_id, template_id) WHERE template_id IS NOT NULL;
CREATE INDEX messages_answer ON messages (organization_id, in_reply_to_id) WHERE in_reply_to_id IS NOT NULL;
-- Finds the message that an answer from outside names.
CREATE INDEX messages_internet_id ON messages (organization_id, internet_id);
-- only sqlite
CREATE VIRTUAL TABLE messages_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX messages_search ON messages USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

-- Whom a mail goes to, one row for each address, and what came of it: waiting,
-- sent, bounced or failed. Written when the sending begins.
CREATE TABLE message_recipients (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  message_id ID NOT NULL REFERENCES messages (id),
  address TEXT NOT NULL,
  address_folded TEXT NOT NULL,
  status TEXT NOT NULL,
  error_message TEXT,
  answered_at TIME
);
CREATE UNIQUE INDEX message_recipients_once ON message_recipients (organization_id, message_id, address_folded);
CREATE INDEX message_recipients_parent ON message_recipients (message_id);
CREATE INDEX message_recipients_address ON message_recipients (organization_id, address_folded);

-- The name, type and size are those that the file had, and stay when it goes.
CREATE TABLE message_attachments (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  message_id ID NOT NULL REFERENCES messages (id),
  file_id ID,
  file_name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes INT NOT NULL
);
CREATE INDEX message_attachments_list ON message_attachments (organization_id, message_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX message_attachments_parent ON message_attachments (message_id);
CREATE INDEX message_attachments_deleted ON message_attachments (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX message_attachments_file ON message_attachments (organization_id, file_id) WHERE file_id IS NOT NULL;

-- linked says that the address made the link, and not a caller.
CREATE TABLE message_contacts (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  message_id ID NOT NULL REFERENCES messages (id),
  contact_id ID NOT NULL,
  role TEXT NOT NULL,
  linked BOOL NOT NULL
);
CREATE INDEX message_contacts_list ON message_contacts (organization_id, message_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX message_contacts_parent ON message_contacts (message_id);
CREATE INDEX message_contacts_deleted ON message_contacts (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX message_contacts_once ON message_contacts (organization_id, message_id, contact_id, role) WHERE deleted_at IS NULL;
CREATE INDEX message_contacts_contact ON message_contacts (organization_id, contact_id, message_id);

-- digest is the SHA-256 of the whole mail. A row is kept for longer than any
-- sender goes on trying; message_id only tells what became of it.
CREATE TABLE received_mails (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  digest TEXT NOT NULL,
  message_id ID NOT NULL
);
CREATE UNIQUE INDEX received_mails_once ON received_mails (organization_id, digest);

-- What signs the mail of the service's own domain, sealed, and its public half
-- as DNS publishes it.
CREATE TABLE mail_keys (
  seq SEQ,
  domain TEXT NOT NULL,
  selector TEXT NOT NULL,
  sealed BYTES NOT NULL,
  record TEXT NOT NULL,
  created_at TIME NOT NULL,
  UNIQUE (domain, selector)
);

-- The embedded mailbox: what would have left the machine. One row for each
-- mail, however often it was handed over.
CREATE TABLE mailbox_mails (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  mail_key TEXT NOT NULL,
  message_id ID NOT NULL,
  sender TEXT NOT NULL,
  recipients JSON NOT NULL,
  size_bytes INT NOT NULL,
  content BYTES NOT NULL
);
CREATE UNIQUE INDEX mailbox_mails_once ON mailbox_mails (organization_id, mail_key);
CREATE INDEX mailbox_mails_list ON mailbox_mails (organization_id, created_at DESC, seq DESC);
CREATE INDEX mailbox_mails_message ON mailbox_mails (organization_id, message_id);
