-- expand
-- Steps of a proposal that a person left out before deciding.

ALTER TABLE proposals ADD COLUMN left_out JSON NOT NULL DEFAULT '[]';
