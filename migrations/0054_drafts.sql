-- expand
-- What people have typed into the desk's forms and not sent yet: one draft per person and form.

CREATE TABLE drafts (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  user_id ID NOT NULL,
  place TEXT NOT NULL,
  fields TEXT NOT NULL,
  saved_at TIME NOT NULL,
  UNIQUE (organization_id, user_id, place)
);
CREATE INDEX drafts_age ON drafts (created_at);
