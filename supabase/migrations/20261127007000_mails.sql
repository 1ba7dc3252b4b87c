-- Mails on their way. A row says what a mail is about, never what it says: that is read when it is
-- sent (mail_claims.sql), so that nobody is told what is no longer so.

create table private.mails (
  id uuid primary key default gen_random_uuid(),
  -- By the clock: one transaction may make many.
  created_at timestamptz not null default clock_timestamp(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  audience text not null
    constraint mails_audience_is_known check (audience in ('client', 'professional')),
  kind text not null,
  client_id uuid,
  -- Without foreign keys: a mail that was sent outlives what it was about, and one that is queued
  -- finds out.
  booking_id uuid,
  order_id uuid,
  payment_id uuid,
  -- What no row says: what was so before, for a mail that tells of a change.
  detail jsonb not null default '{}',
  status text not null default 'queued'
    constraint mails_status_is_known check (status in ('queued', 'sent', 'dropped', 'failed')),
  -- While a try is under way: when its lease ends and another dispatcher may take it.
  due_at timestamptz default now(),
  -- Counted by the claim, so that a dispatcher that dies has used one up.
  attempts integer not null default 0,
  -- The try that is under way; finishing needs it.
  claim_token uuid,
  -- As the last try told them; of a reminder, what it reminds of.
  told_starts_at timestamptz,
  told_ends_at timestamptz,
  recipient text,
  -- What the provider calls it.
  provider_id text
    constraint mails_provider_id_has_1_to_200_characters
      check (char_length(provider_id) between 1 and 200),
  -- Why it was dropped or failed, or what became of it after it was sent.
  outcome text,
  finished_at timestamptz,
  constraint mails_professional_id_client_id_fkey
    foreign key (professional_id, client_id) references public.clients (professional_id, id)
    on delete cascade,
  constraint mails_kind_is_known
    check (
      kind = any (private.mail_kinds(audience))
      or (audience = 'client' and kind in ('booking_to_confirm', 'order_to_confirm'))
      or (audience = 'professional' and kind = 'confirm_address')
    ),
  constraint mails_are_due_while_queued check ((status = 'queued') = (due_at is not null))
);

-- Whether anything is due, and what of it for whom: both as small as the queue.
create index mails_due_idx on private.mails (due_at) where status = 'queued';

create index mails_professional_due_idx
  on private.mails (professional_id, due_at) where status = 'queued';

create index mails_professional_id_client_id_idx on private.mails (professional_id, client_id);

create index mails_booking_id_idx on private.mails (booking_id) where booking_id is not null;

create index mails_order_id_idx on private.mails (order_id) where order_id is not null;

create unique index mails_provider_id_key
  on private.mails (provider_id) where provider_id is not null;

-- For the clean-up; rows come in this order, and each costs next to nothing.
create index mails_created_at_idx on private.mails using brin (created_at);

-- One job makes them all, so nobody waits here.
create unique index mails_one_reminder_of_a_start
  on private.mails (booking_id, told_starts_at, (detail ->> 'minutes'))
  where kind = 'booking_reminder';

-- How fast, and whether at all: one row, which each claim writes.
create table private.mail_pace (
  id boolean primary key default true
    constraint mail_pace_is_one_row check (id),
  -- When the second's budget will be full again, as in request_counters.
  full_at timestamptz not null default now(),
  paused_until timestamptz
);

-- When each professional's turn last was. Lost in a crash, which makes everybody's turn equal.
create unlogged table private.mail_turns (
  professional_id uuid primary key,
  last_at timestamptz not null
);

insert into private.mail_pace default values;

alter table private.mails enable row level security;

grant select, insert, update, delete on private.mails to rules;

create policy mails_all_rules on private.mails
  for all to rules
  using (true)
  with check (true);

alter table private.mail_pace enable row level security;

grant select, update on private.mail_pace to rules;

create policy mail_pace_all_rules on private.mail_pace
  for all to rules
  using (true)
  with check (true);

alter table private.mail_turns enable row level security;

grant select, insert, update on private.mail_turns to rules;

create policy mail_turns_all_rules on private.mail_turns
  for all to rules
  using (true)
  with check (true);

comment on table private.mails is
  'Mails to clients and professionals of the last 90 days: what each is about, when it goes, how it ended. No body, ever.';

comment on table private.mail_pace is
  'One row: how much of a second''s mails is used up, and until when the provider''s quota is spent.';

comment on table private.mail_turns is
  'When a mail of each professional was last claimed, so that a long queue of one keeps nobody else waiting.';
