-- When somebody can be booked. One function lists free starts; the write path and the explanations
-- ask the same one. Windows are walked over local dates and become instants with the zone; steps
-- are made in instants, so that the hours a clock change skips or repeats come out right.

create type private.slot_rules as (
  professional_id uuid,
  time_zone text,
  availability jsonb,
  accepts_bookings boolean,
  active boolean,
  duration integer,
  buffer_before integer,
  buffer_after integer,
  step integer,
  min_notice integer,
  max_advance_days integer,
  -- The booking that is being moved: it does not stand in its own way.
  moved_booking_id uuid
);

comment on type private.slot_rules is
  'All that decides about the starts of one service, or of one booking that moves. Minutes.';

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
    coalesce(extract(epoch from b.ends_at - b.starts_at)::integer / 60, s.duration),
    coalesce(b.buffer_before, s.buffer_before),
    coalesce(b.buffer_after, s.buffer_after),
    coalesce(s.slot_step, s.duration),
    s.min_notice,
    s.max_advance_days,
    b.id
  into v_rules
  from public.services s
  join public.profiles p on p.id = s.professional_id
  left join public.bookings b
    on b.professional_id = s.professional_id
    and b.service_id = s.id
    and b.id = p_moved_booking_id
  where s.id = p_service_id;

  if not found then
    perform private.raise_not_found('service');
  elsif v_rules.moved_booking_id is distinct from p_moved_booking_id then
    perform private.raise_not_found('booking');
  end if;
  return v_rules;
end;
$$;

comment on function private.service_slot_rules is
  'Rules of a service; with a booking of that service its own length and buffers. 404 for unknown ones.';

create function private.local_midnight(p_date date, p_time_zone text)
returns timestamptz
language sql
stable
set search_path = ''
as $$
  select p_date::timestamp at time zone p_time_zone;
$$;

comment on function private.local_midnight is 'The instant at which a local date begins.';

create function private.open_windows(
  p_availability jsonb,
  p_time_zone text,
  p_from date,
  p_to date
)
returns table (starts_at timestamptz, ends_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select w.starts_at, w.ends_at
  from (
    select
      (d.day + (e.hours ->> 0)::time) at time zone p_time_zone as starts_at,
      least(
        (
          d.day + (e.hours ->> 1)::time
          + case when e.hours ->> 1 <= e.hours ->> 0 then interval '1 day' else interval '0' end
        ) at time zone p_time_zone,
        -- An override replaces its whole date, what spills over into it included.
        case
          when p_availability -> 'overrides' ? to_char(d.day + 1, 'YYYY-MM-DD')
          then private.local_midnight(d.day + 1, p_time_zone)
        end
      ) as ends_at
    from (
      -- From the evening before, whose last window may reach into the first date.
      select p_from + n as day from generate_series(-1, p_to - p_from) as n
    ) as d
    cross join lateral jsonb_array_elements(
      coalesce(
        p_availability -> 'overrides' -> to_char(d.day, 'YYYY-MM-DD'),
        p_availability -> 'weekly' -> to_char(d.day, 'dy')
      )
    ) as e (hours)
  ) as w
  where w.starts_at < w.ends_at
    and w.ends_at > private.local_midnight(p_from, p_time_zone);
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
language sql
stable
set search_path = ''
as $$
  select coalesce(
    range_agg(private.blocked_range(starts_at, ends_at, buffer_before, buffer_after)), '{}'
  )
  from public.bookings
  where professional_id = p_professional_id
    and status in ('pending', 'confirmed')
    and private.blocked_range(starts_at, ends_at, buffer_before, buffer_after)
      && tstzrange(p_from, p_to)
    and id is distinct from p_except_booking_id;
$$;

comment on function private.busy_time is
  'What live bookings block between two instants, buffers included.';

create function private.free_slots(p_rules private.slot_rules, p_from date, p_to date)
returns table (starts_at timestamptz, ends_at timestamptz)
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_duration constant interval := make_interval(mins => p_rules.duration);
  v_before constant interval := make_interval(mins => p_rules.buffer_before);
  v_after constant interval := make_interval(mins => p_rules.buffer_after);
  v_today constant date := (now() at time zone p_rules.time_zone)::date;
  v_last_date constant date := least(p_to, v_today + p_rules.max_advance_days);
  v_first_date constant date := greatest(p_from, v_today);
  v_earliest constant timestamptz := greatest(
    private.local_midnight(p_from, p_rules.time_zone),
    now() + make_interval(mins => p_rules.min_notice)
  );
  v_end constant timestamptz := private.local_midnight(v_last_date + 1, p_rules.time_zone);
  v_busy tstzmultirange;
begin
  if not (p_rules.accepts_bookings and p_rules.active) or v_last_date < v_first_date then
    return;
  end if;
  v_busy := private.busy_time(
    p_rules.professional_id,
    v_earliest - v_before,
    v_end + v_duration + v_after,
    p_rules.moved_booking_id
  );

  return query
    -- Distinct: windows of two dates can touch the same time when an override is the second one.
    select distinct s.start, s.start + v_duration
    from private.open_windows(
      p_rules.availability, p_rules.time_zone, v_first_date, v_last_date
    ) as w
    cross join lateral generate_series(
      w.starts_at, w.ends_at - v_duration, make_interval(mins => p_rules.step)
    ) as s (start)
    where s.start >= v_earliest
      and s.start < v_end
      and not v_busy && tstzrange(s.start - v_before, s.start + v_duration + v_after)
    order by 1;
end;
$$;

comment on function private.free_slots is
  'Free starts on the local dates from p_from to p_to, in order: inside working hours, on the grid, with notice, and with the buffered time free.';
