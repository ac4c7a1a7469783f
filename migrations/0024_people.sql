-- What other systems call contacts and customers, and the tags people give them.
ALTER TABLE contacts ADD COLUMN external_id TEXT;
ALTER TABLE contacts ADD COLUMN tags JSON NOT NULL DEFAULT '[]';
ALTER TABLE customers ADD COLUMN external_id TEXT;
ALTER TABLE customers ADD COLUMN tags JSON NOT NULL DEFAULT '[]';
CREATE UNIQUE INDEX contacts_external ON contacts (organization_id, external_id) WHERE external_id IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX customers_external ON customers (organization_id, external_id) WHERE external_id IS NOT NULL AND deleted_at IS NULL;

-- The tags again, folded, to find rows by.
CREATE TABLE contact_tags (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  contact_id ID NOT NULL REFERENCES contacts (id),
  tag TEXT NOT NULL
);
CREATE INDEX contact_tags_list ON contact_tags (organization_id, tag, contact_id);
CREATE INDEX contact_tags_parent ON contact_tags (contact_id, organization_id);

CREATE TABLE customer_tags (
  seq SEQ,
  organization_id ID NOT NULL REFERENCES organizations (id),
  customer_id ID NOT NULL REFERENCES customers (id),
  tag TEXT NOT NULL
);
CREATE INDEX customer_tags_list ON customer_tags (organization_id, tag, customer_id);
CREATE INDEX customer_tags_parent ON customer_tags (customer_id, organization_id);

-- A contact that was merged into another.
ALTER TABLE contacts ADD COLUMN merged_into_id ID;
CREATE INDEX contacts_merged ON contacts (organization_id, merged_into_id) WHERE merged_into_id IS NOT NULL;

-- Values by what they are. A text may be longer than an index takes.
CREATE INDEX property_values_text ON property_values (organization_id, definition_id, substr(value_text, 1, 100))
  WHERE status = 'confirmed' AND deleted_at IS NULL AND value_text IS NOT NULL;
CREATE INDEX property_values_number ON property_values (organization_id, definition_id, value_number)
  WHERE status = 'confirmed' AND deleted_at IS NULL AND value_number IS NOT NULL;
CREATE INDEX property_values_date ON property_values (organization_id, definition_id, value_date)
  WHERE status = 'confirmed' AND deleted_at IS NULL AND value_date IS NOT NULL;
CREATE INDEX property_values_rest ON property_values (organization_id, definition_id, value_boolean)
  WHERE status = 'confirmed' AND deleted_at IS NULL AND value_text IS NULL AND value_number IS NULL AND value_date IS NULL;

-- Equal names, for duplicates: of a person both names, of an organization its own.
CREATE INDEX contacts_same_name ON contacts (organization_id, substr(lower(coalesce(first_name || ' ' || last_name, CASE WHEN first_name IS NULL AND last_name IS NULL THEN organization_name END)), 1, 100)) WHERE deleted_at IS NULL;
