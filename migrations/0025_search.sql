-- What is left of search texts with accents, to be folded anew by a job. A new
-- database has none.

CREATE TABLE search_refolds (
  seq SEQ,
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  last_seq INT NOT NULL,
  walk INT NOT NULL,
  due_at TIME NOT NULL
);
INSERT INTO search_refolds (table_name, column_name, last_seq, walk, due_at)
SELECT t.name, CASE WHEN t.name = 'business_offerings' THEN 'words' ELSE 'search' END, 0, 1, 0
FROM (
  SELECT 'contacts' AS name
  UNION ALL SELECT 'customers'
  UNION ALL SELECT 'messages'
  UNION ALL SELECT 'invoices'
  UNION ALL SELECT 'tasks'
  UNION ALL SELECT 'files'
  UNION ALL SELECT 'email_opt_ins'
  UNION ALL SELECT 'email_templates'
  UNION ALL SELECT 'property_definitions'
  UNION ALL SELECT 'business_offerings'
) AS t
WHERE EXISTS (SELECT 1 FROM organizations);
