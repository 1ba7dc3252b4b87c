-- The outbox: what happened, written in the transaction of the change, so that an event exists
-- exactly when its change does. The body is kept as text: what is signed must never be built twice.

create table private.webhook_events (
  id uuid not null default gen_random_uuid(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  -- Of this professional only: a number that all shared would tell how much others have. Drawn
  -- under the write lock, so that it is the order of commits.
  sequence bigint not null,
  created_at timestamptz not null,
  type text not null
    constraint webhook_events_type_is_known check (type = any (private.webhook_event_types())),
  -- Whose personal data the body holds; without a foreign key, because the event outlives the row.
  client_id uuid,
  -- Told by erase_client(): nothing of the client is left in it, and erasing once more keeps it.
  of_erasure boolean not null default false,
  body text not null,
  primary key (professional_id, sequence),
  constraint webhook_events_professional_id_id_key unique (professional_id, id)
);

create index webhook_events_professional_id_client_id_idx
  on private.webhook_events (professional_id, client_id) where client_id is not null;

create index webhook_events_created_at_idx on private.webhook_events (created_at);

create table private.webhook_expired_events (
  professional_id uuid primary key references public.profiles (id) on delete cascade,
  -- How far back a poller may ask.
  sequence bigint not null default 0,
  -- Of all that are gone, erased ones too: it is not given again, or a poller would miss one.
  highest bigint not null default 0
);

-- Built by the types of the columns, so that a column added to a table is in its events.
create function private.event_data(p_table regclass, p_row jsonb)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return p_row || (
    select jsonb_object_agg(
      attname, private.timestamp_text((p_row ->> attname)::timestamptz)
    )
    from pg_catalog.pg_attribute
    where attrelid = p_table and atttypid = 'public.timestamp_ms'::regtype and not attisdropped
  );
end;
$$;

comment on function private.event_data is
  'A row (to_jsonb of it) as the API shows it: timestamps in UTC with milliseconds and Z, whatever the session''s time zone.';

create function private.changed_fields(p_old jsonb, p_new jsonb)
returns jsonb
language sql
immutable
security invoker
set search_path = ''
as $$
  select jsonb_object_agg(key, value)
  from jsonb_each(p_old)
  -- These change with everything else and say nothing.
  where key not in ('updated_at', 'version') and value is distinct from p_new -> key;
$$;

comment on function private.changed_fields is
  'What the changed fields were before; null when nothing changed but updated_at and version.';

-- Without a profile the account is being deleted, and its rows go with it.
create function private.records_events(p_professional_id uuid)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return exists (select from private.webhook_endpoints where professional_id = p_professional_id)
    and exists (select from public.profiles where id = p_professional_id);
end;
$$;

comment on function private.records_events is
  'Whether changes of this professional are recorded: from the first endpoint on, also a disabled one.';

create function private.next_event_number(p_professional_id uuid)
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return 1 + greatest(
    0,
    (
      select max(sequence)
      from private.webhook_events
      where professional_id = p_professional_id
    ),
    (
      select highest
      from private.webhook_expired_events
      where professional_id = p_professional_id
    )
  );
end;
$$;

comment on function private.next_event_number is
  'A number above those of all events that the professional ever had. Call it under the write lock.';

create function private.record_event(
  p_professional_id uuid,
  p_type text,
  p_data jsonb,
  p_previous jsonb,
  p_client_id uuid
)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_id constant uuid := gen_random_uuid();
  v_sequence constant bigint := private.next_event_number(p_professional_id);
  v_now constant timestamptz := clock_timestamp();
  v_of_erasure constant boolean :=
    coalesce(current_setting('private.erasing', true) = 'on', false);
begin
  insert into private.webhook_events (
    id, professional_id, sequence, created_at, type, client_id, of_erasure, body
  )
  values (
    v_id,
    p_professional_id,
    v_sequence,
    v_now,
    p_type,
    p_client_id,
    v_of_erasure,
    jsonb_build_object(
      'id', v_id,
      'type', p_type,
      'timestamp', private.timestamp_text(v_now),
      'version', 1,
      'professional_id', p_professional_id,
      'sequence', v_sequence,
      'data', p_data,
      -- What a client had erased must not come back in the event that tells of it.
      'previous', case when not v_of_erasure then p_previous end
    )::text
  );
  return v_id;
end;
$$;

comment on function private.record_event is
  'Writes an event and returns its id. Call it under the write lock.';

create function private.emit_event(
  p_professional_id uuid,
  p_type text,
  p_data jsonb,
  p_previous jsonb,
  p_client_id uuid
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_id constant uuid := private.record_event(
    p_professional_id, p_type, p_data, p_previous, p_client_id
  );
begin
  insert into private.webhook_deliveries (professional_id, endpoint_id, event_id)
  select professional_id, id, v_id
  from private.webhook_endpoints
  where professional_id = p_professional_id
    and enabled
    and events && private.webhook_filters(p_type);
end;
$$;

comment on function private.emit_event is
  'Writes an event, and a delivery for each enabled endpoint that wants its type.';

-- Definer, like every trigger function here: API roles hold no EXECUTE on what it calls.
create function private.keep_highest_number()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  insert into private.webhook_expired_events as e (professional_id, highest)
  select gone.professional_id, max(gone.sequence)
  from gone
  -- Not of an account that goes.
  where exists (select from public.profiles where id = gone.professional_id)
  group by gone.professional_id
  on conflict (professional_id) do update
  set highest = greatest(e.highest, excluded.highest);
  return null;
end;
$$;

comment on function private.keep_highest_number is
  'AFTER DELETE statement trigger: whatever removes events, their numbers are not given again.';

create trigger webhook_events_keep_highest_number
  after delete on private.webhook_events
  referencing old table as gone
  for each statement execute function private.keep_highest_number();

alter table private.webhook_events enable row level security;

grant select, insert, delete on private.webhook_events to rules;

create policy webhook_events_all_rules on private.webhook_events
  for all to rules
  using (true)
  with check (true);

alter table private.webhook_expired_events enable row level security;

grant select, insert, update on private.webhook_expired_events to rules;

create policy webhook_expired_events_all_rules on private.webhook_expired_events
  for all to rules
  using (true)
  with check (true);

comment on table private.webhook_events is
  'What happened to a professional''s rows in the last 30 days, with the exact body that is sent.';

comment on table private.webhook_expired_events is
  'The last event of each professional that was cleaned up; a cursor before it has missed something. And the highest number of those that are gone.';

select private.hand_over('keep_highest_number');
