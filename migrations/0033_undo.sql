-- Whose events a large undo takes back, and how far it has come.
ALTER TABLE proposals ADD COLUMN undo JSON;

-- What one request or import did, what an agent did, and what a proposal did, in the
-- order of the log: an undo reads it from its end, part by part.
CREATE INDEX events_request ON events (organization_id, request_id, seq);
CREATE INDEX events_agent ON events (organization_id, actor_id, seq) WHERE actor_kind = 'agent';
DROP INDEX events_proposal;
CREATE INDEX events_of_proposal ON events (organization_id, proposal_id, seq) WHERE proposal_id IS NOT NULL;
