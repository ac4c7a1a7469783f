-- Threads, which messages belong to, the notes of the house on them and on
-- contacts, where received mail came from, and in whose name mail is sent.

-- id is the thread_id of its messages. A row is written with its first message,
-- and deleted with its last.
CREATE TABLE threads (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  subject TEXT NOT NULL,
  status TEXT NOT NULL,
  assignee_id ID,
  snoozed_until TIME,
  contact_id ID,
  customer_id ID,
  last_message_at TIME NOT NULL,
  message_count INT NOT NULL,
  unread BOOL NOT NULL,
  search TEXT NOT NULL
);
CREATE INDEX threads_list ON threads (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX threads_deleted ON threads (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX threads_status ON threads (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX threads_assignee ON threads (organization_id, assignee_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX threads_latest ON threads (organization_id, last_message_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- Deleted rows too, for the purges of what is named.
CREATE INDEX threads_contact ON threads (organization_id, contact_id, created_at DESC, seq DESC) WHERE contact_id IS NOT NULL;
CREATE INDEX threads_customer ON threads (organization_id, customer_id) WHERE customer_id IS NOT NULL;
-- only sqlite
CREATE VIRTUAL TABLE threads_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX threads_search ON threads USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

-- The threads of the messages that there are. They count as read: nobody wants
-- to open years of mail again.
INSERT INTO threads (id, organization_id, created_at, updated_at, subject, status, contact_id, customer_id,
  last_message_at, message_count, unread, search)
SELECT m.thread_id, m.organization_id, m.created_at, t.latest, m.subject, 'open',
  coalesce(m.contact_id, (
    SELECT x.contact_id FROM message_contacts x
    WHERE x.organization_id = m.organization_id AND x.message_id = m.id AND x.deleted_at IS NULL
      AND x.role = CASE WHEN m.direction = 'inbound' THEN 'from' ELSE 'to' END
    ORDER BY x.seq LIMIT 1)),
  m.customer_id, t.latest, t.number, FALSE, m.search
FROM (
  SELECT thread_id, min(seq) AS oldest, count(*) AS number,
    max(CASE WHEN direction = 'outbound' AND sent_at IS NOT NULL THEN sent_at ELSE created_at END) AS latest
  FROM messages
  WHERE deleted_at IS NULL
  GROUP BY organization_id, thread_id) AS t
JOIN messages m ON m.seq = t.oldest
ORDER BY t.oldest;
-- only sqlite
INSERT INTO threads_search (rowid, search) SELECT seq, search FROM threads;
-- both

CREATE TABLE thread_notes (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  thread_id ID NOT NULL REFERENCES threads (id),
  created_by ID,
  created_by_agent BOOL NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX thread_notes_list ON thread_notes (organization_id, thread_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX thread_notes_parent ON thread_notes (thread_id);
CREATE INDEX thread_notes_deleted ON thread_notes (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE contact_notes (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  contact_id ID NOT NULL REFERENCES contacts (id),
  created_by ID,
  created_by_agent BOOL NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX contact_notes_list ON contact_notes (organization_id, contact_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX contact_notes_parent ON contact_notes (contact_id);
CREATE INDEX contact_notes_deleted ON contact_notes (deleted_at) WHERE deleted_at IS NOT NULL;

-- What SPF, DKIM and DMARC said when it came; null for what is sent.
ALTER TABLE messages ADD COLUMN authentication JSON;

-- The name beside the address; and what surrounds the HTML when it leaves: the
-- letterhead of a business, and a button.
ALTER TABLE messages ADD COLUMN from_name TEXT;
ALTER TABLE messages ADD COLUMN business_id ID;
ALTER TABLE messages ADD COLUMN layout BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE messages ADD COLUMN button JSON;
