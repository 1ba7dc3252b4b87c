-- Reminders are not planned ahead: each minute, what is due is queued. So a booking that moves or
-- is cancelled, and a setting that changes, need nothing.

create function private.queue_reminders()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- One at a time; the next minute has another.
  if not pg_try_advisory_xact_lock(7306, 1) then
    return;
  end if;

  insert into private.mails (
    professional_id, audience, kind, client_id, booking_id, told_starts_at, detail
  )
  select
    p.id,
    'client',
    'booking_reminder',
    b.client_id,
    b.id,
    b.starts_at,
    jsonb_build_object('minutes', due.minutes)
  from private.confirmed_owners o
  join public.profiles p on p.id = o.professional_id
  -- By professional, along the index of their bookings.
  cross join lateral (
    select x.id, x.client_id, x.starts_at, x.created_at
    from public.bookings x
    where x.professional_id = p.id
      and x.starts_at > now()
      and x.starts_at <= now() + make_interval(
        mins => (select max(minutes) from unnest(p.reminders) as minutes)
      )
      and x.status = 'confirmed'
      and x.client_id is not null
  ) as b
  -- Of two that are due, the one nearer to the start.
  cross join lateral (
    select min(minutes) as minutes, b.starts_at - make_interval(mins => min(minutes)) as at
    from unnest(p.reminders) as minutes
    where b.starts_at - make_interval(mins => minutes) <= now()
  ) as due
  join public.clients c on c.professional_id = p.id and c.id = b.client_id
  where due.minutes is not null
    and c.reminders
    and c.email is not null
    and p.mail_settings #> '{client,booking_reminder}' is distinct from 'false'
    and not exists (select from private.suspended_owners s where s.professional_id = p.id)
    -- Who has just booked, or was just told of another time, remembers.
    and b.created_at <= due.at - interval '1 hour'
    and not exists (
      select
      from private.mails m
      where m.booking_id = b.id
        and m.audience = 'client'
        and (
          (
            m.kind = 'booking_reminder'
            and m.told_starts_at = b.starts_at
            and (m.detail ->> 'minutes')::integer <= due.minutes
          )
          or (
            m.kind in ('booking_confirmed', 'booking_moved')
            and m.status in ('queued', 'sent')
            and m.created_at > due.at - interval '1 hour'
          )
        )
    )
  on conflict do nothing;
end;
$$;

comment on function private.queue_reminders is
  'Queues the reminders that are due: one for each booking, minutes and start; none for who booked, or heard of the time, less than an hour before it was due.';
