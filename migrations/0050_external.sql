-- expand
-- Whether a row holds what somebody outside the house wrote. It only ever goes from false to true.
ALTER TABLE agents ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE agreements ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE api_keys ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE automation_executions ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE automations ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE business_offerings ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE business_online_presences ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE business_physical_presences ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE business_profiles ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE businesses ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE contact_addresses ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE contact_emails ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE contact_notes ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE contact_phone_numbers ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE contacts ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE customer_transactions ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE customers ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE dns_records ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE domain_contacts ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE domains ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE email_opt_ins ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE email_templates ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE file_access_links ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE files ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE folders ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE imports ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE invites ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE invoice_credit_notes ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE invoice_line_items ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE invoice_payments ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE invoice_reminder_rules ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE invoices ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE message_attachments ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE message_contacts ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE messages ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE operations ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE payment_methods ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE property_definitions ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE property_values ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE proposals ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE task_activity ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE task_assignees ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE tasks ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE thread_notes ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE threads ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE webhook_deliveries ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE webhooks ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE events ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;
ALTER TABLE idempotency ADD COLUMN external BOOL NOT NULL DEFAULT FALSE;

-- Received mail, and what answers of other servers said, are marked from the beginning.
UPDATE messages SET external = TRUE WHERE direction = 'inbound' OR error_message IS NOT NULL;
UPDATE message_attachments SET external = TRUE
  WHERE message_id IN (SELECT id FROM messages WHERE direction = 'inbound');
UPDATE files SET external = TRUE WHERE id IN (SELECT file_id FROM message_attachments WHERE external);
UPDATE threads SET external = TRUE WHERE id IN (SELECT thread_id FROM messages WHERE direction = 'inbound');
UPDATE webhook_deliveries SET external = TRUE WHERE response_body IS NOT NULL;
UPDATE events SET external = TRUE
  WHERE resource_type = 'message' AND resource_id IN (SELECT id FROM messages WHERE external);
UPDATE events SET external = TRUE
  WHERE resource_type = 'thread' AND resource_id IN (SELECT id FROM threads WHERE external);

-- On whose account an event and an execution happen: the agent whose call led to them.
ALTER TABLE events ADD COLUMN agent_id ID;
ALTER TABLE automation_executions ADD COLUMN agent_id ID;

-- The conversation that an agent's guard began with, whose it is, and whether the agent has read of others since.
ALTER TABLE agents ADD COLUMN guard_thread_id ID;
ALTER TABLE agents ADD COLUMN guard_contact_id ID;
ALTER TABLE agents ADD COLUMN guard_others BOOL NOT NULL DEFAULT FALSE;
