-- expand
-- How a business's documents look, and how customers pay them.
ALTER TABLE businesses ADD COLUMN accent_color TEXT;
ALTER TABLE businesses ADD COLUMN payment_instructions TEXT;
ALTER TABLE businesses ADD COLUMN bank_name TEXT;
ALTER TABLE businesses ADD COLUMN iban TEXT;
ALTER TABLE businesses ADD COLUMN bic TEXT;
