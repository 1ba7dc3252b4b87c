-- RPC: the free starts that a booking page shows.

-- The booking must be the caller's: the owner's, or one of the portal client's own.
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
        or v_booking.client_id = private.portal_client_id(v_booking.professional_id)
      )
    )
  ) is not true or v_booking.id is null then
    perform private.raise_not_found('booking');
  end if;
  return v_booking;
end;
$$;

comment on function private.find_callers_booking is
  'A booking of the caller, professional or portal client; 404 PGRST301 for any other, there or not.';

-- Definer: the public reads neither profiles nor bookings. json, not jsonb: the answer is only sent,
-- and there can be thousands of slots in it.
create function private.available_slots(
  p_service_id uuid,
  p_from_date date,
  p_to_date date,
  p_reschedule_of uuid
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_rules private.slot_rules;
begin
  if p_reschedule_of is not null then
    perform private.find_callers_booking(p_reschedule_of);
  end if;
  v_rules := private.service_slot_rules(p_service_id, p_reschedule_of);

  -- Also false for infinite dates, and null for missing ones.
  if (p_from_date >= '2000-01-01' and p_to_date < '2200-01-01' and p_from_date <= p_to_date)
    is not true
  then
    perform private.raise_error(
      422, 'invalid_range', 'The range needs two dates, the first not after the second.'
    );
  elsif p_to_date - p_from_date >= 62 then
    perform private.raise_error(422, 'range_too_long', 'At most 62 days can be asked for at once.');
  end if;

  return json_build_object(
    'time_zone', v_rules.time_zone,
    'duration', trim_scale(extract(epoch from v_rules.duration) / 60),
    'days', (
      select json_agg(
        json_build_object('date', to_char(d.day, 'YYYY-MM-DD'), 'slots', coalesce(s.slots, '[]'))
        order by d.day
      )
      from (
        select (p_from_date + n)::timestamp as day
        from generate_series(0, p_to_date - p_from_date) as n
      ) as d
      left join (
        select
          date_trunc('day', f.starts_at at time zone v_rules.time_zone) as day,
          json_agg(
            json_build_object(
              'starts_at', private.timestamp_text(f.starts_at),
              'ends_at', private.timestamp_text(f.ends_at)
            )
            order by f.starts_at
          ) as slots
        from private.free_slots(v_rules, p_from_date, p_to_date) as f
        group by 1
      ) as s on s.day = d.day
    )
  );
end;
$$;

comment on function private.available_slots is 'See public.available_slots.';

create function public.available_slots(
  service_id uuid,
  from_date date,
  to_date date,
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
  'Free starts of a service on local dates of the professional, inclusive, at most 62 days: {time_zone, duration, days: [{date, slots: [{starts_at, ends_at}]}]}. reschedule_of: a booking of yours that moves and does not block. Errors: 404 PGRST301; 422 invalid_range, range_too_long.';

grant execute on function public.available_slots (uuid, date, date, uuid)
  to anon, authenticated, service_role;

grant execute on function private.available_slots (uuid, date, date, uuid)
  to anon, authenticated, service_role;

select private.hand_over('available_slots');
