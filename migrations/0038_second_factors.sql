-- expand
-- Second factors, sign-ins that wait for one, and what a session tells of itself.

-- A passkey that answers for a user. credential is what the library needs to
-- check a signature: the public key and flags. The counter has its own column,
-- because it may only grow.
CREATE TABLE passkeys (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  user_id ID NOT NULL REFERENCES users (id),
  created_at TIME NOT NULL,
  used_at TIME,
  name TEXT NOT NULL,
  credential_id BYTES NOT NULL UNIQUE,
  credential BYTES NOT NULL,
  sign_count INT NOT NULL
);
CREATE INDEX passkeys_user ON passkeys (user_id, seq);

-- The secret that a user's app makes one-time codes from. It counts only once a
-- right code confirmed it. last_step is the newest time step whose code was
-- accepted, so that no code works twice.
CREATE TABLE code_secrets (
  seq SEQ,
  user_id ID NOT NULL UNIQUE REFERENCES users (id),
  created_at TIME NOT NULL,
  confirmed_at TIME,
  used_at TIME,
  secret BYTES NOT NULL,
  last_step INT NOT NULL
);

-- Recovery codes. Only their hashes are here, and each works once.
CREATE TABLE recovery_codes (
  seq SEQ,
  user_id ID NOT NULL REFERENCES users (id),
  created_at TIME NOT NULL,
  used_at TIME,
  hash BYTES NOT NULL
);
CREATE UNIQUE INDEX recovery_codes_user ON recovery_codes (user_id, hash);

-- A sign-in whose first step is done and which waits for a second factor. Only
-- the hash of its token is here; a row that was used is deleted.
CREATE TABLE sign_ins (
  seq SEQ,
  hash BYTES NOT NULL UNIQUE,
  user_id ID NOT NULL REFERENCES users (id),
  created_at TIME NOT NULL,
  expires_at TIME NOT NULL
);
CREATE INDEX sign_ins_user ON sign_ins (user_id);
CREATE INDEX sign_ins_expired ON sign_ins (expires_at);

-- The challenge that a passkey is asked to sign, bound to the session or sign-in
-- whose token has this hash, and to one purpose. It is deleted by its use.
CREATE TABLE passkey_challenges (
  seq SEQ,
  hash BYTES NOT NULL,
  purpose TEXT NOT NULL,
  user_id ID NOT NULL REFERENCES users (id),
  data BYTES NOT NULL,
  created_at TIME NOT NULL,
  expires_at TIME NOT NULL
);
CREATE UNIQUE INDEX passkey_challenges_hash ON passkey_challenges (hash, purpose);
CREATE INDEX passkey_challenges_expired ON passkey_challenges (expires_at);

-- Where a session began, which second factor it proved, and when its user last
-- proved in it who they are.
ALTER TABLE sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN factor TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN confirmed_at TIME;

-- Owners and admins need a second factor.
ALTER TABLE organizations ADD COLUMN requires_factor BOOL NOT NULL DEFAULT FALSE;
