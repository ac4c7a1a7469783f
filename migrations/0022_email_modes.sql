-- Hosted email that receives and sends, or only sends: what the zone has, and
-- what it should have.
ALTER TABLE domain_email ADD COLUMN mode TEXT NOT NULL DEFAULT 'full';
ALTER TABLE domain_email ADD COLUMN wanted_mode TEXT NOT NULL DEFAULT 'full';
