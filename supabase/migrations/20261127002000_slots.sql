-- When somebody can be booked. Lists, the write path and the explanations ask the same two
-- functions what is open and what is busy. Windows are walked over local dates and become instants
-- with the zone; steps are made in instants, so that the hours a clock change skips or repeats come
-- out right. Steps count from each window as written, but windows that touch are one for how far an
-- appointment may run.

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
  verify_public_email boolean,
  needs_payment boolean,
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
    s.requires_confirmation,
    p.verify_public_email,
    s.payment <> 'none' and s.price > 0
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
security invoker
set search_path = ''
as $$
declare
  v_instant constant timestamptz := p_local at time zone p_time_zone;
  v_before constant timestamptz := v_instant - interval '12 hours';
  -- The same clock time by the offset of half a day before.
  v_first constant timestamptz :=
    (p_local - (v_before at time zone p_time_zone - v_before at time zone 'UTC'))
      at time zone 'UTC';
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
returns table (day date, opens_at timestamptz, starts_at timestamptz, ends_at timestamptz)
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_weekly constant jsonb := p_availability -> 'weekly';
  v_overrides constant jsonb := p_availability -> 'overrides';
  v_date timestamp;
  v_next timestamp;
  v_midnight timestamptz;
  v_windows jsonb;
  v_start text;
  v_end text;
  v_closes_at timestamptz;
begin
  -- From the evening before, whose last window may reach into the first date.
  for v_offset in -1..(p_to - p_from) loop
    v_date := p_from + v_offset;
    v_next := v_date + interval '1 day';
    v_midnight := private.local_instant(v_next, p_time_zone);
    v_windows := coalesce(
      v_overrides -> to_char(v_date, 'YYYY-MM-DD'), v_weekly -> to_char(v_date, 'dy')
    );
    for v_index in 0..(coalesce(jsonb_array_length(v_windows), 0) - 1) loop
      v_start := v_windows -> v_index ->> 0;
      v_end := v_windows -> v_index ->> 1;
      opens_at := private.local_instant(v_date + v_start::time, p_time_zone);
      v_closes_at := case
        when v_end > v_start then private.local_instant(v_date + v_end::time, p_time_zone)
        -- An override replaces its whole date, what spills over into it included.
        when v_overrides ? to_char(v_next, 'YYYY-MM-DD') then v_midnight
        else private.local_instant(v_next + v_end::time, p_time_zone)
      end;

      day := v_date;
      starts_at := opens_at;
      ends_at := least(v_closes_at, v_midnight);
      if starts_at < ends_at and day >= p_from then
        return next;
      end if;
      day := v_next;
      starts_at := v_midnight;
      ends_at := v_closes_at;
      if starts_at < ends_at and day <= p_to then
        return next;
      end if;
    end loop;
  end loop;
end;
$$;

comment on function private.open_windows is
  'Working hours on the local dates from p_from to p_to as instants, each window cut at midnight. Steps count from opens_at, where the window began.';

create function private.booked_time(
  p_professional_id uuid,
  p_from timestamptz,
  p_to timestamptz,
  p_except_booking_id uuid
)
returns tstzmultirange
language plpgsql
stable
security invoker
set search_path = ''
-- No value of a parameter changes the plan, and making one takes longer than running it.
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select coalesce(
      range_agg(private.blocked_range(starts_at, ends_at, buffer_before, buffer_after)), '{}'
    )
    from public.bookings
    where professional_id = p_professional_id
      and status in ('pending', 'confirmed')
      and (expires_at is null or expires_at > now() or checkout_open)
      and private.blocked_range(starts_at, ends_at, buffer_before, buffer_after)
        && tstzrange(p_from, p_to)
      and id is distinct from p_except_booking_id
  );
end;
$$;

comment on function private.booked_time is
  'What live bookings block between two instants, buffers included; holds that are over block nothing.';

create function private.busy_time(
  p_professional_id uuid,
  p_from timestamptz,
  p_to timestamptz,
  p_except_booking_id uuid
)
returns tstzmultirange
language plpgsql
stable
security invoker
set search_path = ''
-- As for booked_time().
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select range_agg(t.during)
    from (
      select private.booked_time(p_professional_id, p_from, p_to, p_except_booking_id) as during
      union all
      select during
      from private.busy_times
      where professional_id = p_professional_id
        and week > p_from - interval '168 hours'
        and week < p_to
    ) as t
  );
end;
$$;

comment on function private.busy_time is
  'When no start is offered: what bookings block, and what calendars elsewhere say (busy_times.sql), of these also in the days around.';

-- Sets of starts, not a look at each start: what is open, shortened by the length of the
-- appointment, less what is busy. Only on what is left is the grid laid.
create function private.free_starts(p_rules private.slot_rules, p_from date, p_to date)
returns table (day date, first_start timestamptz, last_start timestamptz)
language plpgsql
stable
security invoker
set search_path = ''
-- As for booked_time().
set plan_cache_mode = force_generic_plan
as $$
declare
  v_before constant interval := make_interval(mins => p_rules.buffer_before);
  v_after constant interval := p_rules.duration + make_interval(mins => p_rules.buffer_after);
  v_step constant interval := make_interval(mins => p_rules.step);
  v_last_date constant date :=
    least(p_to, (now() at time zone p_rules.time_zone)::date + p_rules.max_advance_days);
  v_earliest constant timestamptz := greatest(
    private.local_instant(p_from, p_rules.time_zone),
    now() + make_interval(mins => p_rules.min_notice)
  );
  v_end constant timestamptz := private.local_instant(v_last_date + 1, p_rules.time_zone);
  v_blocked tstzmultirange;
begin
  -- Also true when the notice reaches beyond the range.
  if not (p_rules.accepts_bookings and p_rules.active) or v_end <= v_earliest then
    return;
  end if;

  -- Open on both sides: to begin where a booking ends, or to end where one begins, is free.
  v_blocked := (
    select coalesce(range_agg(tstzrange(lower(b) - v_after, upper(b) + v_before, '()')), '{}')
    from unnest(
      private.busy_time(
        p_rules.professional_id,
        v_earliest - v_before,
        v_end + v_after,
        p_rules.moved_booking_id
      )
    ) as b
  );

  return query
    with windows as materialized (
      select *
      from private.open_windows(
        p_rules.availability,
        p_rules.time_zone,
        (v_earliest at time zone p_rules.time_zone)::date,
        -- As far as the last appointment may run.
        ((v_end + p_rules.duration) at time zone p_rules.time_zone)::date
      )
    ),
    bookable as (
      select
        range_agg(tstzrange(lower(o), upper(o) - p_rules.duration, '[]'))
          * tstzmultirange(tstzrange(v_earliest, v_end)) - v_blocked as starts
      -- Windows that touch become one here.
      from unnest((select range_agg(tstzrange(w.starts_at, w.ends_at)) from windows as w)) as o
      where upper(o) - lower(o) >= p_rules.duration
    ),
    -- By the steps they share: where clocks skip the time between two windows, they overlap.
    grids as (
      select
        w.day,
        min(w.opens_at) as origin,
        range_agg(tstzrange(w.starts_at, w.ends_at)) as hours
      from windows as w
      group by w.day, w.opens_at - date_bin(v_step, w.opens_at, 'epoch')
    )
    select g.day, f.start, l.start
    from grids as g
    cross join bookable as b
    cross join lateral unnest(g.hours * b.starts) as part
    cross join lateral (
      select date_bin(v_step, lower(part), g.origin), date_bin(v_step, upper(part), g.origin)
    ) as steps (first, last)
    cross join lateral (
      select case when part @> steps.first then steps.first else steps.first + v_step end
    ) as f (start)
    cross join lateral (
      select case when part @> steps.last then steps.last else steps.last - v_step end
    ) as l (start)
    where f.start <= l.start;
end;
$$;

comment on function private.free_starts is
  'Free starts on the local dates from p_from to p_to, as runs from a first to a last by the step: inside working hours, with notice, and with the buffered time free. No start is in two runs.';
