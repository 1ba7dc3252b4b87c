-- RPC: why a start is not free, and what is free instead. The write path refuses with the same words.

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
      select private.timestamp_text(f.starts_at)
      from private.free_slots(
        p_rules, v_from + 7 * v_week, least(v_from + 7 * v_week + 6, v_from + 61)
      ) as f
      where f.starts_at > v_after
      order by f.starts_at
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
  v_windows integer;
  v_fitting integer;
  v_on_grid integer;
begin
  if exists (
    select from private.free_slots(p_rules, v_date, v_date, p_starts_at)
  ) then
    return 'available';
  end if;

  -- Not free. The first of these that applies is the reason.
  select
    count(*),
    count(*) filter (where w.starts_at <= p_starts_at and v_ends_at <= w.ends_at),
    count(*) filter (
      where w.starts_at <= p_starts_at
        and v_ends_at <= w.ends_at
        and mod(extract(epoch from p_starts_at - w.starts_at), p_rules.step * 60) = 0
    )
  into v_windows, v_fitting, v_on_grid
  from private.open_windows(p_rules.availability, p_rules.time_zone, v_date, v_date) as w;

  return case
    when not p_rules.accepts_bookings then 'not_accepting'
    when not p_rules.active then 'inactive'
    when p_starts_at < now() then 'past'
    when p_starts_at < now() + make_interval(mins => p_rules.min_notice) then 'too_soon'
    when v_date > v_today + p_rules.max_advance_days then 'too_far'
    when v_windows = 0 then 'closed_date'
    when v_fitting = 0 then 'outside_hours'
    when v_on_grid = 0 then 'not_on_grid'
    else 'slot_taken'
  end;
end;
$$;

comment on function private.slot_reason is
  'available, or the first reason that applies: not_accepting, inactive, past, too_soon, too_far, closed_date, outside_hours (also: does not fit its window), not_on_grid, slot_taken.';

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
      case v_reason when 'slot_taken' then 409 else 422 end,
      v_reason,
      'This start cannot be booked.',
      json_build_object('next_starts', private.next_starts(p_rules, p_starts_at))::text
    );
  end if;
end;
$$;

comment on function private.check_slot is
  'Refuses a start that is not free with its reason as code (slot_taken 409, others 422) and {"next_starts"} in details.';

-- Definer: the public reads neither profiles nor bookings.
create function private.explain_slot(p_service_id uuid, p_starts_at text)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_rules constant private.slot_rules := private.service_slot_rules(p_service_id);
  v_starts_at constant timestamptz := private.parse_instant(p_starts_at);
begin
  return jsonb_build_object(
    'reason', private.slot_reason(v_rules, v_starts_at),
    'next_starts', private.next_starts(v_rules, v_starts_at)
  );
end;
$$;

comment on function private.explain_slot is 'See public.explain_slot.';

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
  'Whether a start (RFC 3339 with offset) can be booked: {reason, next_starts}. reason is available or why not; next_starts are the next three free starts within 62 days. Errors: 404 PGRST301; 422 invalid_time.';

grant execute on function public.explain_slot (uuid, text) to anon, authenticated, service_role;

grant execute on function private.explain_slot (uuid, text) to anon, authenticated, service_role;

select private.hand_over('explain_slot');
