-- expand
-- What a plain member may do beside the work: spend, and decide over what agents propose. Owners and admins always may,
-- whatever is stored. permissions is a key's list.
ALTER TABLE memberships ADD COLUMN may_spend BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE memberships ADD COLUMN may_approve BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE memberships ADD COLUMN permissions JSON NOT NULL DEFAULT '["*"]';
