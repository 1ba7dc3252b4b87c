-- What has to reach Google calendars: a row for each booking and connection, due while the entry
-- may not be what the booking is. What it says is read when it goes. One row a booking, and one run
-- at a time for a connection, so entries change in the order of their bookings.

create table private.calendar_pushes (
  connection_id uuid not null,
  -- Without a foreign key: the entry of a booking that is gone has to go too.
  booking_id uuid not null,
  professional_id uuid not null,
  due_at timestamptz default now(),
  -- Rises with every change, so that finishing an older one leaves the row due.
  revision integer not null default 1,
  attempts integer not null default 0,
  -- Of the id: Google never gives one twice, not even after the entry was deleted.
  generation integer not null default 0,
  -- Said before the first call, since nobody knows what became of one that broke off.
  may_exist boolean not null default false,
  is_there boolean not null default false,
  error text
    constraint calendar_pushes_error_is_a_code check (error ~ '^[a-z0-9_]{1,50}$'),
  primary key (connection_id, booking_id),
  constraint calendar_pushes_professional_id_connection_id_fkey
    foreign key (professional_id, connection_id)
    references private.calendar_connections (professional_id, id)
    on delete cascade
);

create index calendar_pushes_professional_id_connection_id_idx
  on private.calendar_pushes (professional_id, connection_id);

create index calendar_pushes_professional_id_booking_id_idx
  on private.calendar_pushes (professional_id, booking_id);

create index calendar_pushes_connection_id_due_at_idx
  on private.calendar_pushes (connection_id, due_at) where due_at is not null;

-- The professional's write lock is held wherever rows are queued.
create function private.queue_push(p_professional_id uuid, p_booking_id uuid, p_is_new boolean)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_connection_id constant uuid := (
    select id
    from private.calendar_connections
    where professional_id = p_professional_id and push and status = 'active'
  );
begin
  if v_connection_id is null then
    return;
  end if;
  update private.calendar_pushes
  set due_at = now(), revision = revision + 1, attempts = 0, error = null
  where connection_id = v_connection_id and booking_id = p_booking_id;

  if not found and p_is_new then
    insert into private.calendar_pushes (connection_id, booking_id, professional_id)
    values (v_connection_id, p_booking_id, p_professional_id);
  end if;
end;
$$;

comment on function private.queue_push is
  'Has the entry of a booking written anew; where it has none, only if p_is_new.';

create function private.queue_all_pushes(p_connection private.calendar_connections)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  insert into private.calendar_pushes as p (connection_id, booking_id, professional_id)
  select p_connection.id, b.id, b.professional_id
  from public.bookings b
  where b.professional_id = p_connection.professional_id
    -- By the index on starts_at; a booking lasts at most 366 days.
    and b.starts_at > now() - interval '367 days'
    and b.ends_at > now()
    and b.status <> 'cancelled'
    and b.expires_at is null
  union all
  -- What changed while nobody pushed.
  select k.connection_id, k.booking_id, k.professional_id
  from private.calendar_pushes k
  left join public.bookings b on b.professional_id = k.professional_id and b.id = k.booking_id
  where k.connection_id = p_connection.id
    and k.may_exist
    and (b.ends_at > now() and b.status <> 'cancelled' and b.expires_at is null) is not true
  on conflict (connection_id, booking_id) do update
  set due_at = now(), revision = p.revision + 1, attempts = 0, error = null;
$$;

comment on function private.queue_all_pushes is
  'Has the entries of all that is to come written, and those again that may be there.';

-- Definer, like the other one: whoever changes a row holds no rights on the queue.
create function private.queue_booking_push()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    perform private.queue_push(old.professional_id, old.id, false);
  else
    perform private.queue_push(
      new.professional_id,
      new.id,
      new.ends_at > now() and new.status <> 'cancelled' and new.expires_at is null
    );
  end if;
  return null;
end;
$$;

comment on function private.queue_booking_push is
  'AFTER a change of a booking that an entry shows. A hold has none; what is over gets none.';

create function private.queue_client_pushes()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  -- Past ones too: who was erased is to be in no calendar.
  perform private.queue_push(k.professional_id, k.booking_id, false)
  from private.calendar_pushes k
  join public.bookings b on b.professional_id = k.professional_id and b.id = k.booking_id
  where b.professional_id = new.professional_id and b.client_id = new.id;
  return null;
end;
$$;

comment on function private.queue_client_pushes is
  'AFTER UPDATE of what entries show of a client.';

create trigger bookings_7_queue_push_on_insert
  after insert on public.bookings
  for each row when (new.expires_at is null)
  execute function private.queue_booking_push();

create trigger bookings_7_queue_push_on_update
  after update on public.bookings
  for each row when (
    (new.status, new.starts_at, new.ends_at, new.expires_at, new.notes)
      is distinct from (old.status, old.starts_at, old.ends_at, old.expires_at, old.notes)
  )
  execute function private.queue_booking_push();

create trigger bookings_7_queue_push_on_delete
  after delete on public.bookings
  for each row execute function private.queue_booking_push();

create trigger clients_7_queue_pushes
  after update on public.clients
  for each row when (
    (new.name, new.email, new.phone) is distinct from (old.name, old.email, old.phone)
  )
  execute function private.queue_client_pushes();

alter table private.calendar_pushes enable row level security;

grant select, insert, update, delete on private.calendar_pushes to rules;

create policy calendar_pushes_all_rules on private.calendar_pushes
  for all to rules
  using (true)
  with check (true);

comment on table private.calendar_pushes is
  'Which entries Google calendars have of bookings, and which of them are to be written or removed.';

select private.hand_over('queue_booking_push', 'queue_client_pushes');
