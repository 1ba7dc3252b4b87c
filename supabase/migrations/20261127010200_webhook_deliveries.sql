-- Each event on its way to each endpoint, and every try of it.

create table private.webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  -- By the clock: one transaction may make many, and lists are read newest first.
  created_at timestamptz not null default clock_timestamp(),
  professional_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  status text not null default 'pending'
    constraint webhook_deliveries_status_is_known
      check (status in ('pending', 'succeeded', 'failed', 'cancelled')),
  -- Counted by the claim, so that a dispatcher that dies has used one up.
  attempts integer not null default 0,
  -- While a try is under way: when its lease ends and another dispatcher may take it.
  next_attempt_at timestamptz default now(),
  -- The try that is under way; finishing needs it.
  claim_token uuid,
  last_status integer,
  constraint webhook_deliveries_professional_id_id_key unique (professional_id, id),
  constraint webhook_deliveries_professional_id_event_id_endpoint_id_key
    unique (professional_id, event_id, endpoint_id),
  constraint webhook_deliveries_professional_id_endpoint_id_fkey
    foreign key (professional_id, endpoint_id)
    references private.webhook_endpoints (professional_id, id) on delete cascade,
  constraint webhook_deliveries_professional_id_event_id_fkey
    foreign key (professional_id, event_id)
    references private.webhook_events (professional_id, id) on delete cascade,
  constraint webhook_deliveries_are_scheduled_while_pending
    check ((status = 'pending') = (next_attempt_at is not null))
);

-- Whether anything is due, and what of it for whom and where: both as small as the queue.
create index webhook_deliveries_due_idx
  on private.webhook_deliveries (next_attempt_at) where status = 'pending';

create index webhook_deliveries_endpoint_due_idx
  on private.webhook_deliveries (professional_id, endpoint_id, next_attempt_at)
  where status = 'pending';

create index webhook_deliveries_professional_id_created_at_idx
  on private.webhook_deliveries (professional_id, created_at desc, id desc);

create index webhook_deliveries_professional_id_endpoint_id_created_at_idx
  on private.webhook_deliveries (professional_id, endpoint_id, created_at desc, id desc);

create table private.webhook_attempts (
  -- The claim token of the try.
  id uuid primary key,
  professional_id uuid not null,
  delivery_id uuid not null,
  started_at timestamptz not null default now(),
  -- Null while under way, and for ever when the dispatcher died.
  duration_ms integer,
  -- Null without an answer; then error says why.
  status integer,
  response text
    constraint webhook_attempts_response_has_at_most_4096_characters
      check (char_length(response) <= 4096),
  error text
    constraint webhook_attempts_error_has_at_most_500_characters check (char_length(error) <= 500),
  constraint webhook_attempts_professional_id_delivery_id_fkey
    foreign key (professional_id, delivery_id)
    references private.webhook_deliveries (professional_id, id) on delete cascade
);

create index webhook_attempts_professional_id_delivery_id_idx
  on private.webhook_attempts (professional_id, delivery_id, started_at);

create index webhook_attempts_started_at_idx on private.webhook_attempts (started_at);

-- A row of its own, because the request goes on although its delivery is cancelled, sent once more
-- or deleted meanwhile: whoever does that gets no further slot by it. Neither table has foreign
-- keys: a claim would wait for an account that is being deleted, and both are soon cleaned up. Both
-- are lost in a crash, which gives everybody free slots and a fresh hour.
create unlogged table private.webhook_leases (
  -- The claim token of the try.
  id uuid primary key,
  professional_id uuid not null,
  endpoint_id uuid not null,
  ends_at timestamptz not null
);

create unlogged table private.webhook_budgets (
  professional_id uuid primary key,
  -- When the budget of tries will be full again, as in request_counters.
  full_at timestamptz not null
);

alter table private.webhook_deliveries enable row level security;

grant select, insert, update on private.webhook_deliveries to rules;

create policy webhook_deliveries_all_rules on private.webhook_deliveries
  for all to rules
  using (true)
  with check (true);

alter table private.webhook_attempts enable row level security;

grant select, insert, update on private.webhook_attempts to rules;

create policy webhook_attempts_all_rules on private.webhook_attempts
  for all to rules
  using (true)
  with check (true);

alter table private.webhook_leases enable row level security;

grant select, insert, update, delete on private.webhook_leases to rules;

create policy webhook_leases_all_rules on private.webhook_leases
  for all to rules
  using (true)
  with check (true);

alter table private.webhook_budgets enable row level security;

grant select, insert, update on private.webhook_budgets to rules;

create policy webhook_budgets_all_rules on private.webhook_budgets
  for all to rules
  using (true)
  with check (true);

comment on table private.webhook_deliveries is
  'Events on their way to endpoints: when the next try is, or how it ended.';

comment on table private.webhook_attempts is
  'Every try of a delivery in the last 30 days, with the first 4 kB of the answer.';

comment on table private.webhook_leases is
  'Tries that are under way, of all dispatchers: a row until the try is finished, or its minute is over.';

comment on table private.webhook_budgets is
  'How much of an hour''s tries a professional has used up: a burst of one hour''s, then an even refill.';
