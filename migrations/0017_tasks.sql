-- What is to be done, by whom, and what happened to it.

-- A contact, a customer and a business are named, not owned: the reference
-- stays when the other is deleted, and the purge makes it null.
CREATE TABLE tasks (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  title TEXT NOT NULL,
  description TEXT,
  status TEXT NOT NULL,
  priority TEXT NOT NULL,
  due_at TIME,
  completed_at TIME,
  contact_id ID,
  customer_id ID,
  business_id ID,
  search TEXT NOT NULL
);
CREATE INDEX tasks_list ON tasks (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX tasks_deleted ON tasks (deleted_at) WHERE deleted_at IS NOT NULL;
-- Done tasks pile up; open ones are few.
CREATE INDEX tasks_status ON tasks (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
-- Deleted rows too, for the purges of contacts and customers.
CREATE INDEX tasks_contact ON tasks (organization_id, contact_id, created_at DESC, seq DESC);
CREATE INDEX tasks_customer ON tasks (organization_id, customer_id, created_at DESC, seq DESC);
-- A rare priority, or tasks due before a time that few are: without these all
-- tasks of the organization were read. The status comes first in tasks_due,
-- because what people look for is open and late; without one, all four are asked.
CREATE INDEX tasks_priority ON tasks (organization_id, priority, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX tasks_due ON tasks (organization_id, status, due_at) WHERE deleted_at IS NULL AND due_at IS NOT NULL;
-- only sqlite
CREATE VIRTUAL TABLE tasks_search USING fts5 (search, content = '', contentless_delete = 1, tokenize = 'trigram', detail = full);
-- both
-- only postgres
CREATE INDEX tasks_search ON tasks USING gin (organization_id, search gin_trgm_ops) WHERE deleted_at IS NULL;
-- both

-- A user is not the organization's, and a row stays when a membership ends.
CREATE TABLE task_assignees (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  task_id ID NOT NULL REFERENCES tasks (id),
  user_id ID NOT NULL
);
CREATE INDEX task_assignees_list ON task_assignees (organization_id, task_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX task_assignees_parent ON task_assignees (task_id);
CREATE INDEX task_assignees_deleted ON task_assignees (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX task_assignees_once ON task_assignees (organization_id, task_id, user_id) WHERE deleted_at IS NULL;
CREATE INDEX task_assignees_user ON task_assignees (organization_id, user_id, task_id) WHERE deleted_at IS NULL;

-- Written with what it tells of, and ended with its task alone.
CREATE TABLE task_activity (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  task_id ID NOT NULL REFERENCES tasks (id),
  kind TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id ID,
  body TEXT,
  changes JSON
);
CREATE INDEX task_activity_list ON task_activity (organization_id, task_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX task_activity_parent ON task_activity (task_id);
