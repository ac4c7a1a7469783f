-- Whose events a large undo takes back, and how far it has come.
ALTER TABLE proposals ADD COLUMN undo JSON;

-- What one request or import did. An undo asks for it.
CREATE INDEX events_request ON events (organization_id, request_id, seq);
