import type { Migration } from '../../../store/store.ts'

// Tables of jobs have rowids: without them a row of more than about 1,000 bytes spills onto a page of its own. Their ids are
// in unique indexes with names, so that statements can say which index they want: an `analyze` of the user's at a moment
// when the table is nearly empty makes SQLite prefer a scan from then on.
// The claim index holds the jobs that nobody holds, the lease index those that somebody does: a job is in one of the two,
// a claim walks over no running job and a reclaim over no waiting one. `task` stands in the claim index so that a claim of
// some tasks reads no rows of others. `payload` comes last, so that a large one spills without the other columns.
const sql = `
create table triphammer_live (
  id text not null,
  queue text not null,
  task text not null,
  priority integer not null,
  run_at integer not null,
  created_at integer not null,
  attempt integer not null default 0,
  max_attempts integer not null,
  started_at integer,
  lease_until integer,
  token text,
  session text,
  cancel text,
  timeout_ms real,
  retain_ms real,
  retry text,
  error text,
  progress text,
  payload text not null
) strict;

create unique index triphammer_live_id on triphammer_live (id);
create index triphammer_live_claim on triphammer_live (queue, priority, run_at, id, task) where lease_until is null;
create index triphammer_live_lease on triphammer_live (lease_until) where lease_until is not null;

create table triphammer_ended (
  id text not null,
  state text not null,
  queue text not null,
  task text not null,
  priority integer not null,
  run_at integer not null,
  created_at integer not null,
  attempt integer not null,
  max_attempts integer not null,
  started_at integer,
  ended_at integer not null,
  timeout_ms real,
  retain_ms real,
  retry text,
  error text,
  progress text,
  payload text not null
) strict;

create unique index triphammer_ended_id on triphammer_ended (id);

create table triphammer_history (
  id text not null,
  queue text not null,
  task text not null,
  priority integer not null,
  run_at integer not null,
  created_at integer not null,
  attempt integer not null,
  max_attempts integer not null,
  started_at integer,
  ended_at integer not null,
  keep_until integer not null,
  timeout_ms real,
  retain_ms real,
  retry text,
  error text,
  progress text,
  result text,
  payload text not null
) strict;

create unique index triphammer_history_id on triphammer_history (id);
create index triphammer_history_keep on triphammer_history (keep_until);

create table triphammer_queues (
  name text not null primary key,
  paused_since integer,
  paused_by text,
  paused_reason text
) strict, without rowid;

create table triphammer_sessions (
  id text not null primary key,
  seen_at integer,
  info text,
  changes integer not null default 0,
  changed_at integer not null default 0
) strict, without rowid;

create view triphammer_jobs as
with job (id, state, queue, task, priority, run_at, created_at, started_at, ended_at, lease_until, attempt, max_attempts,
          cancel_requested, error, progress, result, payload) as (
  select id, iif(lease_until is null, 'pending', 'running'), queue, task, priority, run_at, created_at, started_at, null,
         lease_until, attempt, max_attempts, cancel is not null, error, progress, null, payload from triphammer_live
  union all
  select id, state, queue, task, priority, run_at, created_at, started_at, ended_at,
         null, attempt, max_attempts, 0, error, progress, null, payload from triphammer_ended
  union all
  select id, 'completed', queue, task, priority, run_at, created_at, started_at, ended_at,
         null, attempt, max_attempts, 0, error, progress, result, payload from triphammer_history
)
select id, state, queue, task, priority, attempt, max_attempts,
       strftime('%Y-%m-%dT%H:%M:%fZ', run_at / 1000.0, 'unixepoch') as run_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') as created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') as started_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', ended_at / 1000.0, 'unixepoch') as ended_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', lease_until / 1000.0, 'unixepoch') as lease_until,
       cancel_requested, error, progress, result, payload
from job;
`

export const jobs: Migration = { id: 1, name: 'jobs', breaking: true, sql }
