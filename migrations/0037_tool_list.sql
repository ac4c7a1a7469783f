-- expand
-- Which tools the clients of an agent are told of unless they ask for others.
ALTER TABLE agents ADD COLUMN tool_list TEXT NOT NULL DEFAULT 'all';
