-- expand
-- The tax of what a business sells, which an invoice takes over with the price.

ALTER TABLE business_offerings ADD COLUMN tax_rate TEXT;
ALTER TABLE business_offerings ADD COLUMN tax_name TEXT;
