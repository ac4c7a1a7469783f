-- expand
-- Whose events a large undo takes back, and how far it has come.
ALTER TABLE proposals ADD COLUMN undo JSON;

-- What a proposal did, in the order in which an undo reads it, part by part. Agents
-- have such an index; requests and imports are found by their time.
DROP INDEX events_proposal;
CREATE INDEX events_of_proposal ON events (organization_id, proposal_id, created_at DESC, seq DESC) WHERE proposal_id IS NOT NULL;
