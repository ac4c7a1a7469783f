-- expand
-- The oldest schema whose version may still work with this database. A migration
-- that begins with "contract" raises it to its own number.
CREATE TABLE schema_window (
  seq SEQ,
  min_reader INT NOT NULL
);
INSERT INTO schema_window (min_reader) VALUES (35);
