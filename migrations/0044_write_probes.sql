-- expand
-- The row that /readyz writes after a write has met a full disk, until it can be written again.
CREATE TABLE write_probes (
  seq SEQ,
  pad TEXT NOT NULL
);
INSERT INTO write_probes (pad) VALUES ('');
