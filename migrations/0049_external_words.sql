-- expand
-- Received mail, and what answers of other servers said, are marked from the beginning.
UPDATE messages SET external = TRUE WHERE direction = 'inbound' OR error_message IS NOT NULL;
UPDATE message_attachments SET external = TRUE
  WHERE message_id IN (SELECT id FROM messages WHERE direction = 'inbound');
UPDATE files SET external = TRUE WHERE id IN (SELECT file_id FROM message_attachments WHERE external);
UPDATE threads SET external = TRUE WHERE id IN (SELECT thread_id FROM messages WHERE direction = 'inbound');
UPDATE webhook_deliveries SET external = TRUE WHERE response_body IS NOT NULL OR error_message IS NOT NULL;
UPDATE events SET external = TRUE
  WHERE resource_type = 'message' AND resource_id IN (SELECT id FROM messages WHERE external);
UPDATE events SET external = TRUE
  WHERE resource_type = 'thread' AND resource_id IN (SELECT id FROM threads WHERE external);
