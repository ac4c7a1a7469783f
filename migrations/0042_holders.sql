-- expand
-- Which process holds a lease: the number whose lock it keeps (db.Presence).
ALTER TABLE jobs ADD COLUMN holder INT;
