-- Whether a mail may go, asked when it is its turn. What is no longer true is not said, and what
-- must not be sent is dropped, with the reason kept for mails().

create function private.last_told(p_mail private.mails)
returns private.mails
language sql
stable
security invoker
set search_path = ''
as $$
  select m
  from private.mails m
  where m.booking_id = p_mail.booking_id
    and m.audience = p_mail.audience
    and m.id <> p_mail.id
    and m.kind <> 'booking_reminder'
    and m.told_starts_at is not null
    and (m.status = 'sent' or m.claim_token is not null)
  order by coalesce(m.finished_at, m.due_at) desc
  limit 1;
$$;

comment on function private.last_told is
  'The mail that said last, to the same side, when a booking is; nulls without one.';

create function private.mail_is_repetition(p_mail private.mails, p_booking public.bookings)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_told constant private.mails := private.last_told(p_mail);
begin
  if p_mail.kind = 'booking_moved' then
    -- Moved to and fro, or told of the new time by a mail that went out meanwhile.
    return (p_booking.starts_at, p_booking.ends_at) = (
      coalesce(v_told.told_starts_at, (p_mail.detail ->> 'starts_at')::timestamptz),
      coalesce(v_told.told_ends_at, (p_mail.detail ->> 'ends_at')::timestamptz)
    );
  end if;
  -- Cancelled and taken back, or confirmed and cancelled and confirmed, before anybody was told.
  return p_mail.kind in ('booking_confirmed', 'booking_cancelled')
    and v_told.kind = p_mail.kind
    and (p_booking.starts_at, p_booking.ends_at) = (v_told.told_starts_at, v_told.told_ends_at);
end;
$$;

comment on function private.mail_is_repetition is
  'Whether a mail about a booking would say what was said before.';

create function private.mail_is_true(p_mail private.mails, p_subject private.mail_subject)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_booking constant public.bookings := p_subject.booking;
  v_order constant public.orders := p_subject."order";
begin
  if p_mail.booking_id is not null and (v_booking.starts_at > now()) is not true then
    return false;
  end if;
  return case p_mail.kind
    when 'booking_to_confirm' then
      v_booking.status = 'pending' and v_booking.expires_at > now()
    when 'order_to_confirm' then v_order.status = 'pending' and v_order.expires_at > now()
    when 'booking_received' then v_booking.status = 'pending'
    when 'booking_confirmed' then v_booking.status = 'confirmed'
    when 'booking_moved' then v_booking.status in ('pending', 'confirmed')
    when 'booking_cancelled' then v_booking.status = 'cancelled'
    when 'booking_reminder' then
      v_booking.status = 'confirmed' and v_booking.starts_at = p_mail.told_starts_at
    when 'new_booking' then v_booking.status in ('pending', 'confirmed')
    when 'order_received' then v_order.status = 'pending'
    when 'order_confirmed' then v_order.status in ('confirmed', 'fulfilled')
    when 'order_cancelled' then v_order.status = 'cancelled'
    when 'new_order' then v_order.status <> 'cancelled'
    when 'payment_received' then (p_subject.payment).id is not null
    when 'payment_returned' then (p_subject.payment).id is not null
    when 'payment_refunded' then (p_subject.payment).id is not null
    when 'payment_refund_failed' then (p_subject.payment).flag = 'refund_failed'
    when 'client_undeliverable' then (p_subject.client).mail_status = 'undeliverable'
    when 'calendar_failing' then private.failing_calendars(p_mail.professional_id) <> '[]'
    when 'calendar_disconnected' then exists (
      select
      from private.calendar_connections
      where professional_id = p_mail.professional_id and status = 'revoked'
    )
    when 'confirm_address' then not private.owner_is_confirmed(p_mail.professional_id)
  end;
end;
$$;

comment on function private.mail_is_true is
  'Whether what a mail has to say is still so; not of an appointment that has begun.';

create function private.mail_is_over_limit(
  p_mail private.mails,
  p_email text,
  p_is_proven boolean
)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_a_day integer;
begin
  -- The first try has counted, also one that a spent quota took back.
  if p_mail.attempts > 0 or p_mail.detail ? 'counted' then
    return false;
  end if;
  -- A budget of its own, so that others who type the address cannot use that of its owner up.
  if not p_is_proven and private.count_request(
    concat(
      case p_mail.kind when 'confirm_address' then 'question' else 'mail' end,
      ' to ',
      encode(private.address_digest(p_email), 'base64')
    ),
    10,
    '1 day'
  ) > 0 then
    return true;
  end if;
  -- A client who books and cancels without end must use up neither side's.
  if p_mail.client_id is not null and private.count_request(
    format('mail about %s to %s', p_mail.client_id, p_mail.audience), 60, '1 day'
  ) > 0 then
    return true;
  end if;
  if p_mail.audience = 'professional' then
    return false;
  end if;
  v_a_day := (
    select t.mails_per_day
    from public.profiles p
    join private.tiers t on t.name = p.tier
    where p.id = p_mail.professional_id
  );
  return private.count_request(
    format('mail of %s %s', p_mail.professional_id, v_a_day), v_a_day, '1 day'
  ) > 0;
end;
$$;

comment on function private.mail_is_over_limit is
  'Counts a mail: ten a day to an address that has not proved itself, from all professionals together (and ten that ask an account to confirm it), sixty about a client to each side, and by tier those of a professional to clients.';

-- The limits last: what is not sent for another reason counts towards none.
create function private.reason_to_drop(
  p_mail private.mails,
  p_subject private.mail_subject,
  p_email text
)
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_profile constant public.profiles := p_subject.profile;
  v_is_confirmed constant boolean := private.owner_is_confirmed(p_mail.professional_id);
begin
  return case
    when p_mail.created_at < now() - interval '1 day' then 'too_late'
    when private.mail_is_true(p_mail, p_subject) is not true then 'outdated'
    when private.mail_is_repetition(p_mail, p_subject.booking) then 'already_told'
    when exists (
      select
      from private.mails m
      where (m.booking_id = p_mail.booking_id or m.order_id = p_mail.order_id)
        and m.audience = p_mail.audience
        and m.kind = p_mail.kind
        and m.payment_id is not distinct from p_mail.payment_id
        and m.status = 'queued'
        and m.claim_token is null
        and m.created_at > p_mail.created_at
    ) then 'already_told'
    when v_profile.mail_settings #> array[p_mail.audience, p_mail.kind] = 'false'
      then 'switched_off'
    when p_email is null then 'no_address'
    when p_mail.kind = 'booking_reminder' and not (p_subject.client).reminders
      then 'unsubscribed'
    when p_mail.audience = 'client' and exists (
      select from private.suspended_owners where professional_id = p_mail.professional_id
    ) then 'suspended'
    when p_mail.audience = 'client' and not v_is_confirmed then 'owner_not_confirmed'
    when exists (
      select
      from private.suppressed_addresses
      where address_digest = private.address_digest(p_email)
    ) then 'undeliverable'
    when private.mail_is_over_limit(
      p_mail,
      p_email,
      case p_mail.audience
        when 'client' then private.address_is_proven(p_mail.professional_id, p_email)
        else v_is_confirmed
      end
    ) then 'daily_limit'
  end;
end;
$$;

comment on function private.reason_to_drop is
  'Why a mail is not sent: too_late, outdated, already_told, switched_off, no_address, unsubscribed, suspended, owner_not_confirmed, undeliverable, daily_limit; null when it is.';
