-- RPC: the free starts that a booking page shows.

-- There can be thousands of starts, and formatting their times would be most of the work: hours and
-- minutes are formatted once and looked up. Starts are whole minutes, because offsets of time zones
-- are; so all ends have the seconds of the duration.
create function private.slot_days(p_rules private.slot_rules, p_from date, p_to date)
returns json
language plpgsql
stable
security invoker
set search_path = ''
-- A plan made for these parameters would hold the arrays as constants, which are read from their
-- beginning each time.
set plan_cache_mode = force_generic_plan
as $$
declare
  v_duration constant integer := floor(extract(epoch from p_rules.duration) / 60);
  v_seconds constant text := to_char(p_rules.duration, ':SS.MS"Z"');
  -- A local date may begin on the date before it in UTC.
  v_origin constant timestamp := p_from - 1;
  v_hours constant text[] := array(
    select to_char(v_origin + make_interval(hours => n), 'YYYY-MM-DD"T"HH24:')
    from generate_series(0, (p_to - p_from + 3) * 24 + v_duration / 60) as n
    order by n
  );
  v_minutes constant text[] := array(
    select to_char(make_interval(mins => n), 'MI') from generate_series(0, 59) as n order by n
  );
begin
  return (
    select json_agg(
      json_build_object('date', p_from + n, 'slots', coalesce(s.slots, '[]')) order by n
    )
    from generate_series(0, p_to - p_from) as n
    left join (
      select
        f.day,
        (
          '['
          || string_agg(
            '{"starts_at":"' || v_hours[m / 60 + 1] || v_minutes[m % 60 + 1]
              || ':00.000Z","ends_at":"'
              || v_hours[(m + v_duration) / 60 + 1] || v_minutes[(m + v_duration) % 60 + 1]
              || v_seconds || '"}',
            ','
            order by m
          )
          || ']'
        )::json as slots
      from private.free_starts(p_rules, p_from, p_to) as f
      -- Minutes after v_origin.
      cross join lateral generate_series(
        extract(epoch from f.first_start at time zone 'UTC' - v_origin)::integer / 60,
        extract(epoch from f.last_start at time zone 'UTC' - v_origin)::integer / 60,
        p_rules.step
      ) as m
      group by f.day
    ) as s on s.day = p_from + n
  );
end;
$$;

comment on function private.slot_days is
  'The dates from p_from to p_to as available_slots() shows them: [{date, slots: [{starts_at, ends_at}]}].';

-- Definer: the public reads neither profiles nor bookings. json, not jsonb: the answer is only
-- sent.
create function private.available_slots(
  p_service_id uuid,
  p_from_date text,
  p_to_date text,
  p_reschedule_of uuid
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_from date;
  v_to date;
  v_rules private.slot_rules;
begin
  perform private.check_arguments(case when p_service_id is null then 'service_id' end);
  v_from := private.parse_date(p_from_date);
  v_to := private.parse_date(p_to_date);
  if v_from < '2000-01-01' or v_to >= '2200-01-01' or v_from > v_to then
    perform private.raise_error(
      422,
      'invalid_range',
      'The first date must not be after the second, and both between 2000 and 2199.'
    );
  elsif v_to - v_from >= 62 then
    perform private.raise_error(422, 'range_too_long', 'At most 62 days can be asked for at once.');
  end if;

  if p_reschedule_of is not null then
    perform private.find_callers_booking(p_reschedule_of);
  end if;
  v_rules := private.service_slot_rules(p_service_id, p_reschedule_of);

  return json_build_object(
    'time_zone', v_rules.time_zone,
    'duration', trim_scale(extract(epoch from v_rules.duration) / 60),
    'days', private.slot_days(v_rules, v_from, v_to)
  );
end;
$$;

-- Dates are text, as instants are: a date would also be `today` or `01/02/2027`.
create function public.available_slots(
  service_id uuid,
  from_date text,
  to_date text,
  reschedule_of uuid default null
)
returns json
language sql
stable
security invoker
set search_path = ''
as $$
  select private.available_slots($1, $2, $3, $4);
$$;

comment on function public.available_slots is
  'Free starts of a service on local dates (YYYY-MM-DD) of the professional, inclusive, at most 62 days: {time_zone, duration, days: [{date, slots: [{starts_at, ends_at}]}]}. reschedule_of: a booking of yours that moves and does not block. Errors: 404 PGRST301; 422 invalid_date, invalid_range, range_too_long, validation_failed.';

grant execute on function public.available_slots (uuid, text, text, uuid)
  to anon, authenticated, service_role;

grant execute on function private.available_slots (uuid, text, text, uuid)
  to anon, authenticated, service_role;

select private.hand_over('available_slots');
