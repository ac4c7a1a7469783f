-- expand
-- Writing: the signature below the mail of each member, and calls among the notes about a contact.

ALTER TABLE memberships ADD COLUMN signature TEXT;
ALTER TABLE contact_notes ADD COLUMN kind TEXT NOT NULL DEFAULT 'note';
