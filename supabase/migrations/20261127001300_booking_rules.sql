-- How a booking comes about and changes, for every writer: what is copied from the service, which
-- state follows which, and the collision found before the constraint would.

create function private.booking_may_become(p_old text, p_new text, p_started boolean)
returns boolean
language sql
immutable
security invoker
set search_path = ''
as $$
  select p_old = p_new
    -- Unknown states are the check constraint's to refuse.
    or p_new not in ('pending', 'confirmed', 'cancelled', 'completed', 'no_show')
    or case p_old
      when 'pending' then p_new in ('confirmed', 'cancelled')
      when 'confirmed' then p_new = 'cancelled' or (p_new in ('completed', 'no_show') and p_started)
      when 'completed' then p_new = 'no_show'
      when 'no_show' then p_new = 'completed'
      when 'cancelled' then p_new = 'confirmed'
    end;
$$;

comment on function private.booking_may_become is
  'The state machine of bookings. Repeating a state is allowed and changes nothing.';

create function private.check_booking_may_move(p_old text, p_new text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if p_new not in ('pending', 'confirmed') then
    perform private.raise_invalid_transition(
      p_old, p_new, 'Only pending and confirmed bookings can be moved.'
    );
  end if;
end;
$$;

comment on function private.check_booking_may_move is
  '409 invalid_transition, with a hint, for new times of a booking that does not end up live.';

create function private.raise_slot_taken()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(409, 'slot_taken', 'Another booking is at that time.');
end;
$$;

comment on function private.raise_slot_taken is
  '409 slot_taken without proposals: for the owner, who may take any time.';

create function private.fill_booking()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_service public.services;
begin
  if not private.is_callers_row(new.professional_id) then
    return new;
  end if;
  if new.status in ('cancelled', 'completed', 'no_show') then
    perform private.raise_invalid_transition(null, new.status);
  end if;

  if new.service_id is null then
    new.service_name := null;
    new.price := coalesce(new.price, 0);
    if new.ends_at is null then
      perform private.raise_error(422, 'ends_at_required', 'Blocked time needs its end.');
    end if;
  else
    select * into v_service
    from public.services
    where professional_id = new.professional_id and id = new.service_id;

    if not found then
      raise exception using
        errcode = 'foreign_key_violation',
        constraint = 'bookings_professional_id_service_id_fkey',
        table = 'bookings',
        message = 'the service does not exist';
    end if;
    new.service_name := v_service.name;
    new.price := coalesce(new.price, v_service.price);
    new.ends_at := coalesce(new.ends_at, new.starts_at + make_interval(mins => v_service.duration));
  end if;

  new.buffer_before := coalesce(new.buffer_before, v_service.buffer_before, 0);
  new.buffer_after := coalesce(new.buffer_after, v_service.buffer_after, 0);
  new.cancellation_notice :=
    coalesce(new.cancellation_notice, v_service.cancellation_notice, 0);
  new.currency := (select currency from public.profiles where id = new.professional_id);
  perform private.check_amount(new.price, private.minor_units(new.professional_id));
  return new;
end;
$$;

comment on function private.fill_booking is
  'BEFORE INSERT: name, price, buffers, notice, end and currency from the service and the profile, unless given.';

-- Only fires when the statement names ends_at, which a trigger cannot see otherwise.
create function private.note_given_end()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform set_config('private.given_end_of', new.id::text, true);
  return new;
end;
$$;

comment on function private.note_given_end is
  'BEFORE UPDATE OF ends_at, first: tells change_booking() that the end was given, even the same one.';

create function private.change_booking()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if new.starts_at <> old.starts_at
    and current_setting('private.given_end_of', true) is distinct from new.id::text
  then
    -- In seconds: a difference in days would stretch by the clock changes of the session's zone.
    new.ends_at := new.starts_at
      + make_interval(secs => extract(epoch from old.ends_at - old.starts_at));
  end if;
  perform set_config('private.given_end_of', '', true);

  if not (
      private.booking_may_become(old.status, new.status, new.starts_at <= now())
      -- A client's move of a confirmed booking may have to be confirmed again.
      or (
        private.caller_is_client()
        and old.status = 'confirmed'
        and new.status = 'pending'
        and new.starts_at <> old.starts_at
      )
      -- A hold that was over is confirmed or paid after all, and of a service that requires
      -- confirmation.
      or (
        old.cancelled_by is not distinct from 'system'
        and new.status = 'pending'
        and current_setting('private.revives', true) is not distinct from new.id::text
      )
    )
    or (new.status in ('completed', 'no_show') and new.client_id is null)
  then
    perform private.raise_invalid_transition(old.status, new.status);
  end if;
  if (new.starts_at, new.ends_at) is distinct from (old.starts_at, old.ends_at) then
    perform private.check_booking_may_move(old.status, new.status);
  end if;

  if new.status = 'cancelled' and old.status <> 'cancelled' then
    new.cancelled_at := now();
    -- Only the rules and servers can have said that nobody did it.
    new.cancelled_by := case
      when new.cancelled_by = 'system' then 'system'
      when private.caller_is_client() then 'client'
      else 'owner'
    end;
  elsif new.status <> 'cancelled' and old.status = 'cancelled' then
    new.cancelled_at := null;
    new.cancelled_by := null;
    new.cancel_reason := null;
  end if;
  if new.status not in ('pending', 'cancelled') then
    new.expires_at := null;
  end if;
  if new.status <> 'pending' or new.expires_at is null then
    new.checkout_open := false;
  end if;

  if new is distinct from old then
    new.version := old.version + 1;
  end if;
  return new;
end;
$$;

comment on function private.change_booking is
  'BEFORE UPDATE: the state machine, who cancelled when, a moved start keeps the length, a confirmed hold is one no more, version rises.';

create function private.check_booking_is_free()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_is_taken boolean;
begin
  -- Without a length there is nothing to compare: the table's own constraints refuse it.
  if (new.starts_at < new.ends_at and private.is_callers_row(new.professional_id)) is not true then
    return new;
  end if;
  select bool_or(b.expires_at is null or b.expires_at > now() or b.checkout_open) into v_is_taken
  from public.bookings b
  where b.professional_id = new.professional_id
    and b.id <> new.id
    and b.status in ('pending', 'confirmed')
    and private.blocked_range(b.starts_at, b.ends_at, b.buffer_before, b.buffer_after)
      && private.blocked_range(new.starts_at, new.ends_at, new.buffer_before, new.buffer_after);

  if v_is_taken then
    perform private.raise_slot_taken();
  elsif not v_is_taken then
    perform set_config('private.meets_expired_holds', new.id::text, true);
  end if;
  return new;
end;
$$;

comment on function private.check_booking_is_free is
  'BEFORE INSERT OR UPDATE of a live booking: 409 slot_taken, or word to end_met_holds() of holds that are over. Under the write lock nothing can come between; the exclusion constraint stands behind it.';

-- After all rows of the statement, because one that it has still to reach must not be changed under
-- it (27000). A hold that this statement writes itself counts as live.
create function private.end_met_holds()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_met uuid[];
  v_is_taken boolean;
begin
  select array_agg(b.id), bool_or(b.xmin = pg_current_xact_id()::xid) into v_met, v_is_taken
  from public.bookings b
  where b.professional_id = new.professional_id
    and b.id <> new.id
    and b.status in ('pending', 'confirmed')
    and private.blocked_range(b.starts_at, b.ends_at, b.buffer_before, b.buffer_after)
      && private.blocked_range(new.starts_at, new.ends_at, new.buffer_before, new.buffer_after);

  if v_is_taken then
    perform private.raise_slot_taken();
  end if;
  update public.bookings
  set status = 'cancelled', cancelled_by = 'system'
  where id = any (v_met) and expires_at <= now() and not checkout_open;
  return null;
end;
$$;

comment on function private.end_met_holds is
  'AFTER a live booking was written over holds that are over: ends them, and no others. 409 slot_taken for one that the same statement has written.';

-- The booking must be the caller's: the owner's, one of the portal client's own, or the one whose
-- link was opened.
create function private.find_callers_booking(p_booking_id uuid)
returns public.bookings
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_booking public.bookings;
begin
  select * into v_booking from public.bookings where id = p_booking_id;

  if (
    private.caller_is_server()
    or (
      v_booking.professional_id = private.caller_professional_id()
      and (
        private.caller_role() = 'authenticated'
        or (
          (
            v_booking.client_id = private.portal_client_id(v_booking.professional_id)
            or v_booking.id = private.portal_booking_id(v_booking.professional_id)
          )
          and (v_booking.checkout_open or coalesce(v_booking.expires_at > now(), true))
        )
      )
    )
  ) is not true or v_booking.id is null then
    perform private.raise_not_found('booking');
  end if;
  return v_booking;
end;
$$;

comment on function private.find_callers_booking is
  'A booking of the caller, professional or client; 404 PGRST301 for any other, there or not, and for a client''s hold that is over.';

create trigger bookings_lock
  before insert or update or delete on public.bookings
  for each statement execute function private.take_write_lock();

create trigger bookings_1_fill
  before insert on public.bookings
  for each row execute function private.fill_booking();

create trigger bookings_1_note_given_end
  before update of ends_at on public.bookings
  for each row execute function private.note_given_end();

create trigger bookings_2_change
  before update on public.bookings
  for each row execute function private.change_booking();

create trigger bookings_3_check_free_on_insert
  before insert on public.bookings
  for each row execute function private.check_booking_is_free();

create trigger bookings_3_check_free_on_update
  before update on public.bookings
  for each row
  when (
    new.status in ('pending', 'confirmed')
    and (new.status, new.starts_at, new.ends_at, new.buffer_before, new.buffer_after)
      is distinct from (old.status, old.starts_at, old.ends_at, old.buffer_before, old.buffer_after)
  )
  execute function private.check_booking_is_free();

-- Named before all others of its kind, the constraint's own included.
create trigger "0_bookings_end_met_holds"
  after insert or update on public.bookings
  for each row
  when (
    new.status in ('pending', 'confirmed')
    and new.id::text = current_setting('private.meets_expired_holds', true)
  )
  execute function private.end_met_holds();

create trigger bookings_3_keep_identity
  before update on public.bookings
  for each row
  when (
    (new.id, new.created_at, new.professional_id)
    is distinct from (old.id, old.created_at, old.professional_id)
  )
  execute function private.refuse_identity_change();

create trigger bookings_4_touch
  before update on public.bookings
  for each row execute function private.touch_row();

select private.hand_over(
  'fill_booking',
  'change_booking',
  'check_booking_is_free',
  'end_met_holds'
);
