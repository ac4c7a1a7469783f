-- What the service does by itself, and what came of it.

-- An automation acts for whoever last changed its steps. What that one could
-- do then is kept: more permissions later give it no more.
CREATE TABLE automations (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  name TEXT NOT NULL,
  description TEXT,
  status TEXT NOT NULL,
  trigger JSON NOT NULL,
  condition TEXT,
  steps JSON NOT NULL,
  next_run_at TIME,
  maker_kind TEXT NOT NULL,
  maker_id ID,
  maker_user_id ID,
  maker_permissions JSON NOT NULL
);
CREATE INDEX automations_list ON automations (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX automations_deleted ON automations (deleted_at) WHERE deleted_at IS NOT NULL;

-- One run. It keeps the steps as they were when it began (plan), and names the
-- event whose data it works with. An automation is named, not owned: what
-- happened stays when it is deleted, and ends by its own retention.
CREATE TABLE automation_executions (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL REFERENCES organizations (id),
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  automation_id ID NOT NULL,
  status TEXT NOT NULL,
  trigger TEXT NOT NULL,
  event_id ID,
  event_type TEXT,
  input JSON NOT NULL,
  steps JSON NOT NULL,
  started_at TIME,
  completed_at TIME,
  error_message TEXT,
  plan JSON,
  chain JSON,
  saved JSON,
-- when its turn is, once the allowance of the plan gave it one
  admitted_at TIME,
-- grows with every retry; a worker of an older run changes nothing
  run INT NOT NULL,
-- grows when a step must be tried under another idempotency key
  key_epoch INT NOT NULL
);
CREATE INDEX automation_executions_list ON automation_executions (organization_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX automation_executions_status ON automation_executions (organization_id, status, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX automation_executions_automation ON automation_executions (organization_id, automation_id, created_at DESC, seq DESC) WHERE deleted_at IS NULL;
CREATE INDEX automation_executions_event ON automation_executions (organization_id, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX automation_executions_age ON automation_executions (created_at);

-- When an organization has its whole allowance of executions back.
CREATE TABLE automation_allowances (
  seq SEQ,
  organization_id ID NOT NULL,
  until TIME NOT NULL
);
CREATE UNIQUE INDEX automation_allowances_organization ON automation_allowances (organization_id);
