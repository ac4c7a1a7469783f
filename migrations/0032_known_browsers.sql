-- The browsers in which a user has signed in. Only the hash of a browser's
-- token is here; a browser that several people use has a row for each.
CREATE TABLE known_browsers (
  seq SEQ,
  hash BYTES NOT NULL,
  user_id ID NOT NULL REFERENCES users (id),
  created_at TIME NOT NULL,
  expires_at TIME NOT NULL
);
CREATE UNIQUE INDEX known_browsers_hash ON known_browsers (hash, user_id);
CREATE INDEX known_browsers_user ON known_browsers (user_id, seq);
CREATE INDEX known_browsers_expired ON known_browsers (expires_at);
