-- RPC: the public books. What it may choose is a free start and how to be reached.

create type public.booking_receipt as (
  id uuid,
  professional_id uuid,
  service_id uuid,
  service_name text,
  status text,
  starts_at text,
  ends_at text,
  cancel_until text,
  price numeric,
  currency text,
  notes text,
  version integer,
  expires_at text,
  order_id uuid,
  checkout_token text,
  amount_due numeric
);

comment on type public.booking_receipt is
  'A booking as its client sees it. Times are ISO 8601 with milliseconds and Z.';

comment on column public.booking_receipt.id is
  'The booking''s, for cancel_booking and reschedule_booking.';

comment on column public.booking_receipt.professional_id is 'With whom it is.';

comment on column public.booking_receipt.service_id is 'What was booked; null for blocked time.';

comment on column public.booking_receipt.service_name is
  'The name of the service when it was booked; null for blocked time.';

comment on column public.booking_receipt.status is
  'As in bookings.status; pending also for a hold, which expires_at tells apart.';

comment on column public.booking_receipt.starts_at is
  'The beginning of the appointment, without buffers.';

comment on column public.booking_receipt.ends_at is 'The end of the appointment, without buffers.';

comment on column public.booking_receipt.cancel_until is
  'The last moment at which the client may cancel or move it: the start less the service''s notice when it was booked. Null for blocked time.';

comment on column public.booking_receipt.price is
  'In currency, as it was when it was booked; 0 for what is free.';

comment on column public.booking_receipt.currency is
  'ISO 4217 code of price and amount_due: the professional''s when it was booked.';

comment on column public.booking_receipt.notes is
  'What the client wrote, or was written for them to see; null without.';

comment on column public.booking_receipt.version is 'Rises on every real change.';

comment on column public.booking_receipt.expires_at is
  'Of a hold: until when it has to be confirmed by the link that was mailed, or paid. Null unless it is one.';

comment on column public.booking_receipt.order_id is
  'The order by which it is paid, made with it; null for a service without a payment.';

comment on column public.booking_receipt.checkout_token is
  'What opens a payment page to whoever has it (POST /functions/v1/payments/checkout); null unless something is due.';

comment on column public.booking_receipt.amount_due is
  'For how much that page is, in currency: the deposit, or all of it with tax. Null unless something is due.';

create function private.booking_receipt(p_booking_id uuid)
returns public.booking_receipt
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_receipt public.booking_receipt;
begin
  select
    id,
    professional_id,
    service_id,
    service_name,
    status,
    private.timestamp_text(starts_at),
    private.timestamp_text(ends_at),
    case
      when service_id is not null
      then private.timestamp_text(starts_at - make_interval(mins => cancellation_notice))
    end,
    price,
    currency,
    notes,
    version,
    case when status = 'pending' then private.timestamp_text(expires_at) end
  into v_receipt
  from public.bookings
  where id = p_booking_id;

  -- A server may have deleted what an idempotency key still remembers.
  if not found then
    perform private.raise_not_found('booking');
  end if;

  select o.id, case when due.amount is not null then h.token end, due.amount
  into v_receipt.order_id, v_receipt.checkout_token, v_receipt.amount_due
  from private.payment_holds h
  join public.orders o on o.professional_id = h.professional_id and o.id = h.order_id
  cross join lateral (select nullif(private.due_now(o), 0)) as due (amount)
  where h.professional_id = v_receipt.professional_id and h.booking_id = p_booking_id;

  return v_receipt;
end;
$$;

comment on function private.booking_receipt is
  'The receipt of a booking as it is now; 404 PGRST301 when it is gone.';

-- Definer: the public writes neither bookings nor clients itself.
create function private.create_booking(
  p_service_id uuid,
  p_starts_at text,
  p_client_name text,
  p_client_email text,
  p_client_phone text,
  p_notes text,
  p_idempotency_key text,
  p_language text
)
returns public.booking_receipt
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_starts_at timestamptz;
  v_professional_id uuid;
  -- The client who is asking; null for everybody who has to say who it is for.
  v_portal_client_id uuid;
  v_is_public boolean;
  v_client_id uuid;
  v_request jsonb;
  v_rules private.slot_rules;
  v_needs_payment boolean;
  v_is_hold boolean;
  v_id uuid;
begin
  perform private.check_arguments(variadic array[
    case when p_service_id is null then 'service_id' end,
    case when char_length(p_notes) > 4000 then 'notes' end
  ] || private.invalid_client_fields(
    p_client_name,
    p_client_email,
    p_client_phone,
    p_language,
    private.caller_role() is distinct from 'portal_client' or p_client_email is not null
  ));
  perform private.check_idempotency_key(p_idempotency_key);
  v_starts_at := private.parse_instant(p_starts_at);

  select professional_id into v_professional_id from public.services where id = p_service_id;

  if not found then
    perform private.raise_not_found('service');
  end if;
  v_portal_client_id := private.portal_client_id(v_professional_id);
  v_is_public := v_portal_client_id is null or p_client_email is not null;
  if v_is_public then
    -- A client of somebody else is the public here, and has to say who it is for.
    perform private.check_arguments(
      case when p_client_name is null then 'client_name' end,
      case when p_client_email is null then 'client_email' end
    );
    perform private.count_public_try(v_professional_id, p_client_email);
  end if;

  perform private.lock_professional(v_professional_id);

  -- With the portal client: the same words from somebody else are no replay.
  v_request := jsonb_build_array(
    v_portal_client_id,
    p_service_id,
    p_starts_at,
    p_client_name,
    p_client_email,
    p_client_phone,
    p_notes,
    p_language
  );

  v_id := private.find_replay(v_professional_id, 'create_booking', p_idempotency_key, v_request);
  if v_id is not null then
    perform private.end_expired_holds(v_professional_id);
    return private.booking_receipt(v_id);
  end if;

  v_rules := private.service_slot_rules(p_service_id);
  -- What the owner enters is a booking at once.
  v_needs_payment :=
    v_rules.needs_payment and private.is_own_change(v_professional_id) is not true;
  -- Elsewhere there are none to look for, but from before, and of other services; one that is met
  -- is ended by its meeting.
  if v_rules.verify_public_email or v_needs_payment then
    perform private.end_expired_holds(v_professional_id);
  end if;
  perform private.check_slot(v_rules, v_starts_at);
  if v_needs_payment then
    perform private.check_unpaid_holds(
      v_professional_id, case when not v_is_public then v_portal_client_id end
    );
  end if;

  v_client_id := case
    when p_client_email is null then v_portal_client_id
    else private.find_or_create_client(
      v_professional_id,
      p_client_name,
      p_client_email,
      p_client_phone,
      p_language,
      v_rules.verify_public_email or v_needs_payment
    )
  end;
  if v_client_id = v_portal_client_id then
    perform private.check_open_count('bookings', (
      select count(*)
      from public.bookings
      where professional_id = v_professional_id
        and client_id = v_client_id
        and source = 'portal'
        and status in ('pending', 'confirmed')
        and starts_at > now()
        and (expires_at is null or expires_at > now() or checkout_open)
    ));
  end if;

  if v_is_public then
    perform private.count_public_write(v_professional_id);
  end if;
  v_is_hold := v_needs_payment
    or (v_rules.verify_public_email and v_client_id is distinct from v_portal_client_id);
  if v_needs_payment then
    perform set_config('private.awaits_payment', 'on', true);
  end if;
  insert into public.bookings (
    professional_id, client_id, service_id, starts_at, status, notes, source, expires_at
  )
  values (
    v_professional_id,
    v_client_id,
    p_service_id,
    v_starts_at,
    case when v_is_hold or v_rules.requires_confirmation then 'pending' else 'confirmed' end,
    p_notes,
    case when v_client_id = v_portal_client_id then 'portal' else 'public' end,
    case
      -- Money says as much as a link; and whoever is there pays while it begins.
      when v_needs_payment then now() + private.payment_time(v_professional_id)
      -- Nobody confirms an appointment that has begun.
      when v_is_hold then least(now() + private.hold_time(), v_starts_at)
    end
  )
  returning id into v_id;

  if v_needs_payment then
    perform private.order_held_booking(v_id, v_is_public);
  end if;

  perform private.remember_call(
    v_professional_id, 'create_booking', p_idempotency_key, v_request, v_id
  );
  return private.booking_receipt(v_id);
end;
$$;

-- PL/pgSQL here, because SQL would plan the one call anew each time.
create function public.create_booking(
  service_id uuid,
  starts_at text,
  client_name text default null,
  client_email text default null,
  client_phone text default null,
  notes text default null,
  idempotency_key text default null,
  language text default null
)
returns public.booking_receipt
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return private.create_booking($1, $2, $3, $4, $5, $6, $7, $8);
end;
$$;

comment on function public.create_booking is
  'Books a free start of a service for a client, found or made by e-mail. Pending when the service requires confirmation, else confirmed; with profiles.verify_public_email a booking by the public is a hold, pending until expires_at, and becomes that when the link mailed to the client is opened; of a service with a payment a booking of the public or of a portal client is one until order_id is paid with checkout_token. client_name and client_email are required but for a portal client; language (en, it) is kept for a new client. Errors: 404 PGRST301; 409 slot_taken, and busy for the professional by whose calendar it is; 422 the reasons of explain_slot, with {"next_starts"} in details, invalid_time, validation_failed {"fields"}, invalid_idempotency_key, idempotency_key_reused, payments_unavailable, amount_not_payable, for portal clients too_many_open; 429 rate_limit_exceeded for too many, or too many tries, by the public.';

grant execute on function public.create_booking (uuid, text, text, text, text, text, text, text)
  to anon, authenticated, service_role;

grant execute on function private.create_booking (uuid, text, text, text, text, text, text, text)
  to anon, authenticated, service_role;

select private.hand_over('create_booking');
