-- Who is signed in to the console, who is invited, and the first-run link.

-- Only the hash of a session's token is here. organization_id is the one that
-- the session looks at; a user may belong to several. expires_at moves on with
-- use and never past the absolute end.
CREATE TABLE sessions (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  user_id ID NOT NULL REFERENCES users (id),
  hash BYTES NOT NULL UNIQUE,
  created_at TIME NOT NULL,
  used_at TIME NOT NULL,
  expires_at TIME NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expired ON sessions (expires_at);

-- An invitation is a link that is shown once; a row that was taken up or
-- revoked is deleted.
CREATE TABLE invites (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  hash BYTES NOT NULL UNIQUE,
  invited_by_user_id ID REFERENCES users (id),
  expires_at TIME NOT NULL
);
CREATE INDEX invites_list ON invites (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX invites_deleted ON invites (deleted_at) WHERE deleted_at IS NOT NULL;

-- The link that makes the first organization. There is at most one, and none
-- once it was used.
CREATE TABLE setup_links (
  seq SEQ,
  hash BYTES NOT NULL UNIQUE,
  created_at TIME NOT NULL
);
