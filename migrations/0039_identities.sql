-- expand
-- People who sign in at an identity provider (OpenID Connect).

-- Who a user is at the provider. After the first sign-in only issuer and subject
-- count; an address can be given to somebody else.
CREATE TABLE identities (
  seq SEQ,
  user_id ID NOT NULL REFERENCES users (id),
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_at TIME NOT NULL,
  used_at TIME NOT NULL
);
CREATE UNIQUE INDEX identities_subject ON identities (issuer, subject);
CREATE UNIQUE INDEX identities_user ON identities (user_id, issuer);

-- A browser that was sent to the provider. Only the hash of its token is here; a
-- row that was used is deleted.
CREATE TABLE provider_visits (
  seq SEQ,
  hash BYTES NOT NULL UNIQUE,
  next TEXT NOT NULL,
  fresh BOOL NOT NULL,
  created_at TIME NOT NULL,
  expires_at TIME NOT NULL
);
CREATE INDEX provider_visits_expired ON provider_visits (expires_at);

-- What a link of the operator does: set a password, or sign in.
ALTER TABLE password_links ADD COLUMN purpose TEXT NOT NULL DEFAULT 'password';
