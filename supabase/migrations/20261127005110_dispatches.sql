-- When the dispatcher of a queue last asked for work: whether one is at it, or has been silent.

create table private.dispatches (
  queue text primary key,
  last_at timestamptz not null default now()
);

alter table private.dispatches enable row level security;

grant select, insert (queue), update (last_at) on private.dispatches to rules;

create policy dispatches_all_rules on private.dispatches
  for all to rules
  using (true)
  with check (true);

comment on table private.dispatches is
  'One row a queue that was ever asked: webhooks, mail, payments, calendar.';
