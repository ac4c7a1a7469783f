-- The former values of the fields that an event changed.
ALTER TABLE events ADD COLUMN previous JSON;
