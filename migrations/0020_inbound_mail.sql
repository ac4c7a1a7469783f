-- Which mail has come in, so that a mail whose sender did not hear that it was
-- taken, and sends it again, is stored once.

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
