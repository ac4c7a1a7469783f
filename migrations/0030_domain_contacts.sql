-- Deleted domains name their contact too, and the purge of contacts looks for
-- them; the index left them out.
DROP INDEX domains_contact;
CREATE INDEX domains_contact ON domains (organization_id, contact_id) WHERE contact_id IS NOT NULL;
