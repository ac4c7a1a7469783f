-- Mail that no person wrote (RFC 3834): received mail that says so, and what an
-- automation or the service itself sends. chain is what led to a message that
-- is sent, as events have it, so that what becomes of it goes on with it.
ALTER TABLE messages ADD COLUMN auto_submitted BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE messages ADD COLUMN chain JSON;
