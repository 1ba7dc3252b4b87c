-- When somebody can be booked. One function lists free starts; the write path and the explanations
-- ask the same one. Windows are walked over local dates and become instants with the zone; steps
-- are made in instants, so that the hours a clock change skips or repeats come out right.

create type private.slot_rules as (
  professional_id uuid,
  time_zone text,
  availability jsonb,
  accepts_bookings boolean,
  active boolean,
  duration interval,
  buffer_before integer,
  buffer_after integer,
  step integer,
  min_notice integer,
  max_advance_days integer,
  requires_confirmation boolean,
  -- The booking that is being moved: it does not stand in its own way.
  moved_booking_id uuid
);

comment on type private.slot_rules is
  'All that decides about the starts of one service, or of one booking that moves. Integers are minutes.';

-- Definer functions of the API call what is below, with their own rights.
create function private.service_slot_rules(p_service_id uuid, p_moved_booking_id uuid default null)
returns private.slot_rules
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_rules private.slot_rules;
begin
  select
    s.professional_id,
    p.time_zone,
    p.availability,
    p.accepts_bookings,
    s.active,
    make_interval(mins => s.duration),
    s.buffer_before,
    s.buffer_after,
    coalesce(s.slot_step, s.duration),
    s.min_notice,
    s.max_advance_days,
    s.requires_confirmation
  into v_rules
  from public.services s
  join public.profiles p on p.id = s.professional_id
  where s.id = p_service_id;

  if not found then
    perform private.raise_not_found('service');
  end if;

  if p_moved_booking_id is not null then
    select
      -- In seconds, never in days: how long a day is depends on the session's time zone.
      make_interval(secs => extract(epoch from ends_at - starts_at)),
      buffer_before,
      buffer_after,
      id
    into v_rules.duration, v_rules.buffer_before, v_rules.buffer_after, v_rules.moved_booking_id
    from public.bookings
    -- Not `and service_id =`: Postgres would read all bookings of the service instead of one.
    where id = p_moved_booking_id and service_id is not distinct from p_service_id;

    if not found then
      perform private.raise_not_found('booking');
    end if;
  end if;
  return v_rules;
end;
$$;

comment on function private.service_slot_rules is
  'Rules of a service; with a booking of that service its own length and buffers. 404 for unknown ones.';

-- Postgres takes the second of two equal local times, which would begin a day an hour late where
-- clocks go back at midnight (Azores, Havana), and open a window late everywhere else.
create function private.local_instant(p_local timestamp, p_time_zone text)
returns timestamptz
language plpgsql
stable
parallel safe
set search_path = ''
as $$
declare
  v_instant constant timestamptz := p_local at time zone p_time_zone;
  v_before constant timestamptz := v_instant - interval '12 hours';
  -- The same clock time by the offset of half a day before.
  v_first constant timestamptz :=
    (p_local - (v_before at time zone p_time_zone - v_before at time zone 'UTC')) at time zone 'UTC';
begin
  return case when v_first at time zone p_time_zone = p_local then v_first else v_instant end;
end;
$$;

comment on function private.local_instant is
  'The instant of a local time as RFC 5545 (3.3.5) has it: of two the first, and one that clocks skip by the offset before.';

-- A loop, because a query over dates and windows takes longer to start than the two dates of a
-- booking take to walk.
create function private.open_windows(
  p_availability jsonb,
  p_time_zone text,
  p_from date,
  p_to date
)
returns table (starts_at timestamptz, ends_at timestamptz)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_weekly constant jsonb := p_availability -> 'weekly';
  v_overrides constant jsonb := p_availability -> 'overrides';
  v_from constant timestamptz := private.local_instant(p_from, p_time_zone);
  v_day timestamp;
  v_windows jsonb;
  v_start text;
  v_end text;
begin
  -- From the evening before, whose last window may reach into the first date.
  for v_offset in -1..(p_to - p_from) loop
    v_day := p_from + v_offset;
    v_windows := coalesce(
      v_overrides -> to_char(v_day, 'YYYY-MM-DD'), v_weekly -> to_char(v_day, 'dy')
    );
    for v_index in 0..(coalesce(jsonb_array_length(v_windows), 0) - 1) loop
      v_start := v_windows -> v_index ->> 0;
      v_end := v_windows -> v_index ->> 1;
      starts_at := private.local_instant(v_day + v_start::time, p_time_zone);
      ends_at := private.local_instant(
        case
          when v_end > v_start then v_day + v_end::time
          -- An override replaces its whole date, what spills over into it included.
          when v_overrides ? to_char(v_day + interval '1 day', 'YYYY-MM-DD')
          then v_day + interval '1 day'
          else v_day + interval '1 day' + v_end::time
        end,
        p_time_zone
      );
      if starts_at < ends_at and ends_at > v_from then
        return next;
      end if;
    end loop;
  end loop;
end;
$$;

comment on function private.open_windows is
  'Working hours as instants: the windows that touch the local dates from p_from to p_to.';

create function private.busy_time(
  p_professional_id uuid,
  p_from timestamptz,
  p_to timestamptz,
  p_except_booking_id uuid
)
returns tstzmultirange
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select coalesce(
      range_agg(private.blocked_range(starts_at, ends_at, buffer_before, buffer_after)), '{}'
    )
    from public.bookings
    where professional_id = p_professional_id
      and status in ('pending', 'confirmed')
      and private.blocked_range(starts_at, ends_at, buffer_before, buffer_after)
        && tstzrange(p_from, p_to)
      and id is distinct from p_except_booking_id
  );
end;
$$;

comment on function private.busy_time is
  'What live bookings block between two instants, buffers included.';

create function private.free_slots(
  p_rules private.slot_rules,
  p_from date,
  p_to date,
  p_starts_at timestamptz default null
)
returns table (starts_at timestamptz, ends_at timestamptz)
language plpgsql
stable
security invoker
set search_path = ''
-- No value of a parameter changes the plan, and making one takes longer than running it.
set plan_cache_mode = force_generic_plan
as $$
declare
  v_before constant interval := make_interval(mins => p_rules.buffer_before);
  v_after constant interval := make_interval(mins => p_rules.buffer_after);
  v_today constant date := (now() at time zone p_rules.time_zone)::date;
  v_last_date constant date := least(p_to, v_today + p_rules.max_advance_days);
  v_first_date constant date := greatest(p_from, v_today);
  v_earliest constant timestamptz := greatest(
    private.local_instant(p_from, p_rules.time_zone),
    now() + make_interval(mins => p_rules.min_notice)
  );
  v_end constant timestamptz := private.local_instant(v_last_date + 1, p_rules.time_zone);
  v_busy tstzmultirange;
begin
  -- Also true when the notice reaches beyond the range.
  if not (p_rules.accepts_bookings and p_rules.active) or v_end <= v_earliest then
    return;
  end if;
  v_busy := private.busy_time(
    p_rules.professional_id,
    v_earliest - v_before,
    v_end + p_rules.duration + v_after,
    p_rules.moved_booking_id
  );

  return query
    -- Distinct: two windows overlap where clocks skip the time between them.
    select distinct s.start, s.start + p_rules.duration
    from private.open_windows(
      p_rules.availability, p_rules.time_zone, v_first_date, v_last_date
    ) as w
    cross join lateral generate_series(
      w.starts_at, w.ends_at - p_rules.duration, make_interval(mins => p_rules.step)
    ) as s (start)
    where (p_starts_at is null or s.start = p_starts_at)
      and s.start >= v_earliest
      and s.start < v_end
      and not v_busy && tstzrange(s.start - v_before, s.start + p_rules.duration + v_after)
    order by 1;
end;
$$;

comment on function private.free_slots is
  'Free starts on the local dates from p_from to p_to, in order, or only whether p_starts_at is one of them: inside working hours, on the grid, with notice, and with the buffered time free.';
