-- expand
-- What the comparison with what was shown needs, and nobody is shown: the inputs as they were rendered, the rows that
-- the steps made so far, and from which step on the maker is shown nothing.
ALTER TABLE proposals ADD COLUMN rendered JSON NOT NULL DEFAULT '[]';
ALTER TABLE proposals ADD COLUMN made JSON NOT NULL DEFAULT '{}';
ALTER TABLE proposals ADD COLUMN withheld_from INT;
ALTER TABLE proposals ADD COLUMN effects_total INT NOT NULL DEFAULT 0;
