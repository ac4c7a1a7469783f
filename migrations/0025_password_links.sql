-- A way back for who forgot their password: a link that an operator passes on.
-- Only the hash of its token is here; a row that was used is deleted.
CREATE TABLE password_links (
  seq SEQ,
  hash BYTES NOT NULL UNIQUE,
  created_at TIME NOT NULL,
  user_id ID NOT NULL REFERENCES users (id),
  expires_at TIME NOT NULL
);
CREATE UNIQUE INDEX password_links_user ON password_links (user_id);
