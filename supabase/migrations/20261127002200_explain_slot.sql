-- RPC: why a start is not free, and what is free instead. The write path asks the same function and
-- refuses with the same words.

create function private.next_starts(p_rules private.slot_rules, p_after timestamptz)
returns text[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_after constant timestamptz := greatest(p_after, now());
  v_from constant date := (v_after at time zone p_rules.time_zone)::date;
  v_starts text[] := '{}';
begin
  -- Week by week: most calendars have three free starts in the first.
  for v_week in 0..8 loop
    v_starts := v_starts || array(
      select private.timestamp_text(t.start)
      from private.free_starts(
        p_rules, v_from + 7 * v_week, least(v_from + 7 * v_week + 6, v_from + 61)
      ) as f
      cross join lateral generate_series(
        f.first_start, f.last_start, make_interval(mins => p_rules.step)
      ) as t (start)
      where t.start > v_after
      order by t.start
      limit 3 - cardinality(v_starts)
    );
    exit when cardinality(v_starts) = 3;
  end loop;
  return v_starts;
end;
$$;

comment on function private.next_starts is
  'The next three free starts after an instant, within 62 local days.';

create function private.slot_reason(p_rules private.slot_rules, p_starts_at timestamptz)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_date constant date := (p_starts_at at time zone p_rules.time_zone)::date;
  v_today constant date := (now() at time zone p_rules.time_zone)::date;
  v_ends_at constant timestamptz := p_starts_at + p_rules.duration;
  v_from constant timestamptz := p_starts_at - make_interval(mins => p_rules.buffer_before);
  v_to constant timestamptz := v_ends_at + make_interval(mins => p_rules.buffer_after);
  v_window record;
  v_open boolean := false;
  v_on_grid boolean := false;
  -- Windows that touch become one in it.
  v_hours tstzmultirange := '{}';
begin
  if not p_rules.accepts_bookings then
    return 'not_accepting';
  elsif not p_rules.active then
    return 'inactive';
  elsif p_starts_at < now() then
    return 'past';
  elsif p_starts_at < now() + make_interval(mins => p_rules.min_notice) then
    return 'too_soon';
  elsif v_date > v_today + p_rules.max_advance_days then
    return 'too_far';
  end if;

  for v_window in
    select *
    from private.open_windows(
      p_rules.availability,
      p_rules.time_zone,
      v_date,
      (v_ends_at at time zone p_rules.time_zone)::date
    )
  loop
    v_open := v_open or v_window.day = v_date;
    v_hours := v_hours + tstzmultirange(tstzrange(v_window.starts_at, v_window.ends_at));
    v_on_grid := v_on_grid or (
      v_window.starts_at <= p_starts_at
      and p_starts_at < v_window.ends_at
      and mod(extract(epoch from p_starts_at - v_window.opens_at), p_rules.step * 60) = 0
    );
  end loop;

  if not v_open then
    return 'closed_date';
  elsif not v_hours @> tstzrange(p_starts_at, v_ends_at) then
    return 'outside_hours';
  elsif not v_on_grid then
    return 'not_on_grid';
  elsif not (
    private.busy_time(p_rules.professional_id, v_from, v_to, p_rules.moved_booking_id)
      && tstzrange(v_from, v_to)
  ) then
    return 'available';
  elsif private.caller_role() = 'authenticated'
    and private.caller_professional_id() = p_rules.professional_id
    and isempty(
      private.booked_time(p_rules.professional_id, v_from, v_to, p_rules.moved_booking_id)
    )
  then
    return 'busy';
  end if;
  -- Nobody else is told which of the two it is.
  return 'slot_taken';
end;
$$;

comment on function private.slot_reason is
  'available, or the first reason that applies: not_accepting, inactive, past, too_soon, too_far, closed_date, outside_hours (also: runs beyond them), not_on_grid, slot_taken, and for the professional busy: by a calendar elsewhere, with no booking in the way.';

create function private.check_slot(p_rules private.slot_rules, p_starts_at timestamptz)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_reason constant text := private.slot_reason(p_rules, p_starts_at);
begin
  if v_reason <> 'available' then
    perform private.raise_error(
      case when v_reason in ('slot_taken', 'busy') then 409 else 422 end,
      v_reason,
      'This start cannot be booked.',
      json_build_object('next_starts', private.next_starts(p_rules, p_starts_at))::text
    );
  end if;
end;
$$;

comment on function private.check_slot is
  'Refuses a start that is not free with its reason as code (slot_taken and busy 409, others 422) and {"next_starts"} in details.';

-- Definer: the public reads neither profiles nor bookings.
create function private.explain_slot(p_service_id uuid, p_starts_at text)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_starts_at timestamptz;
  v_rules private.slot_rules;
begin
  -- In the order of create_booking(), so that both name the same first reason.
  perform private.check_arguments(case when p_service_id is null then 'service_id' end);
  v_starts_at := private.parse_instant(p_starts_at);
  v_rules := private.service_slot_rules(p_service_id);

  return jsonb_build_object(
    'reason', private.slot_reason(v_rules, v_starts_at),
    'next_starts', private.next_starts(v_rules, v_starts_at)
  );
end;
$$;

create function public.explain_slot(service_id uuid, starts_at text)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.explain_slot($1, $2);
$$;

comment on function public.explain_slot is
  'Whether a start (RFC 3339 with offset) can be booked: {reason, next_starts}. reason is available or why not; next_starts are the next three free starts within 62 days. Errors: 404 PGRST301; 422 invalid_time, validation_failed.';

grant execute on function public.explain_slot (uuid, text) to anon, authenticated, service_role;

grant execute on function private.explain_slot (uuid, text) to anon, authenticated, service_role;

select private.hand_over('explain_slot');
