-- expand
-- The lines of a chunk that were refused. They stay until the import ends, because a later line may repeat them.

ALTER TABLE import_chunks ADD COLUMN refused_lines JSON;
