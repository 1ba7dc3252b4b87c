-- What a mail is about, as it is at this moment, for the function that writes it.

create type private.mail_subject as (
  profile public.profiles,
  client public.clients,
  booking public.bookings,
  "order" public.orders,
  payment private.payments
);

create function private.mail_subject(p_mail private.mails)
returns private.mail_subject
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_subject private.mail_subject;
begin
  select p into v_subject.profile
  from public.profiles p
  where p.id = p_mail.professional_id;

  select c into v_subject.client
  from public.clients c
  where c.professional_id = p_mail.professional_id and c.id = p_mail.client_id;

  select b into v_subject.booking
  from public.bookings b
  where b.professional_id = p_mail.professional_id and b.id = p_mail.booking_id;

  select o into v_subject."order"
  from public.orders o
  where o.professional_id = p_mail.professional_id and o.id = p_mail.order_id;

  select m into v_subject.payment
  from private.payments m
  where m.professional_id = p_mail.professional_id and m.id = p_mail.payment_id;

  return v_subject;
end;
$$;

comment on function private.mail_subject is 'The rows that a mail is about.';

-- Whoever books types what they like, and anybody's address.
create function private.may_quote(p_subject private.mail_subject)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return case
    when (p_subject."order").id is not null
    then (p_subject."order").source <> 'public'
      or (p_subject."order").email_confirmed_at is not null
    when (p_subject.booking).id is not null
    then (p_subject.booking).source <> 'public'
      or (p_subject.booking).email_confirmed_at is not null
    else true
  end;
end;
$$;

comment on function private.may_quote is
  'Whether what was typed when a booking or order was made may go to its client: the professional made it, the client did in the portal, or its own link was opened.';

create function private.amount_text(p_amount numeric, p_currency text)
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select round(p_amount, minor_units)::text from private.currencies where code = p_currency;
$$;

comment on function private.amount_text is 'An amount with all decimals of its currency: 45.00.';

create function private.booking_facts(
  p_subject private.mail_subject,
  p_audience text,
  p_may_quote boolean
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_booking constant public.bookings := p_subject.booking;
  v_location text;
  v_instructions text;
begin
  if v_booking.id is null then
    return null;
  end if;
  select location, instructions into v_location, v_instructions
  from public.services
  where professional_id = v_booking.professional_id and id = v_booking.service_id;

  return jsonb_build_object(
    'id', v_booking.id,
    'version', v_booking.version,
    'status', v_booking.status,
    'service_name', v_booking.service_name,
    'starts_at', private.timestamp_text(v_booking.starts_at),
    'ends_at', private.timestamp_text(v_booking.ends_at),
    'price', private.amount_text(v_booking.price, v_booking.currency),
    'currency', v_booking.currency,
    'notes', case when p_audience = 'professional' or p_may_quote then v_booking.notes end,
    'cancel_reason',
    case
      when p_audience = 'professional' or p_may_quote or v_booking.cancelled_by = 'owner'
      then v_booking.cancel_reason
    end,
    'cancelled_by', v_booking.cancelled_by,
    -- Who has a link can join.
    'location',
    case
      when not private.is_link(v_location) or v_booking.status = 'confirmed' then v_location
    end,
    'instructions', v_instructions,
    'cancel_until', private.timestamp_text(
      v_booking.starts_at - make_interval(mins => v_booking.cancellation_notice)
    ),
    'updated_at', private.timestamp_text(v_booking.updated_at),
    'created_at', private.timestamp_text(v_booking.created_at)
  );
end;
$$;

comment on function private.booking_facts is
  'The booking of a mail, without what its reader must not be told; null without one.';

create function private.order_facts(
  p_subject private.mail_subject,
  p_audience text,
  p_may_quote boolean
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_order constant public.orders := p_subject."order";
  v_is_told constant boolean := p_audience = 'professional' or p_may_quote;
begin
  if v_order.id is null then
    return null;
  end if;
  return jsonb_build_object(
    'id', v_order.id,
    'number', v_order.number,
    'kind', v_order.kind,
    'status', v_order.status,
    'items', (
      select jsonb_agg(
        jsonb_build_object(
          'name', line.value ->> 'name',
          'quantity', line.value -> 'quantity',
          'unit_price',
          private.amount_text((line.value ->> 'unit_price')::numeric, v_order.currency),
          'total', private.amount_text((line.value ->> 'total')::numeric, v_order.currency)
        )
        order by line.place
      )
      from jsonb_array_elements(v_order.items) with ordinality as line (value, place)
    ),
    'subtotal', private.amount_text(v_order.subtotal, v_order.currency),
    'discount', private.amount_text(v_order.discount, v_order.currency),
    'tax', private.amount_text(v_order.tax, v_order.currency),
    'total', private.amount_text(v_order.total, v_order.currency),
    'currency', v_order.currency,
    'payment_status', v_order.payment_status,
    'amount_paid', private.amount_text(v_order.amount_paid, v_order.currency),
    'amount_refunded', private.amount_text(v_order.amount_refunded, v_order.currency),
    'shipping_address', case when v_is_told then v_order.shipping_address end,
    'notes', case when v_is_told then v_order.notes end,
    'updated_at', private.timestamp_text(v_order.updated_at)
  );
end;
$$;

comment on function private.order_facts is
  'The order of a mail, without what its reader must not be told; null without one.';

create function private.failing_calendars(p_professional_id uuid)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object('host', host, 'failing_since', private.timestamp_text(failing_since))
      order by failing_since, id
    ),
    '[]'
  )
  from private.calendars_that_fail(p_professional_id);
$$;

comment on function private.failing_calendars is
  'What a mail says of calendars_that_fail().';

create function private.mail_facts(
  p_mail private.mails,
  p_subject private.mail_subject,
  p_email text
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_profile constant public.profiles := p_subject.profile;
  v_client constant public.clients := p_subject.client;
  v_payment constant private.payments := p_subject.payment;
  v_may_quote constant boolean := private.may_quote(p_subject);
begin
  return jsonb_build_object(
    'mail_id', p_mail.id,
    'claim_token', p_mail.claim_token,
    'attempt', p_mail.attempts,
    'audience', p_mail.audience,
    'kind', p_mail.kind,
    'language',
    case p_mail.audience
      when 'client' then coalesce(v_client.language, v_profile.language)
      else v_profile.language
    end,
    'to', jsonb_build_object(
      'email', p_email,
      'name',
      case
        when p_mail.audience = 'professional' then v_profile.full_name
        when v_may_quote then v_client.name
      end
    ),
    'professional', jsonb_build_object(
      'id', v_profile.id,
      'full_name', v_profile.full_name,
      'username', v_profile.username,
      'email', v_profile.contact_email,
      'phone', v_profile.contact_phone,
      'address', v_profile.address,
      'footer', v_profile.mail_footer,
      'time_zone', v_profile.time_zone
    ) || case p_mail.kind
      when 'confirm_address' then jsonb_build_object('email_to_confirm', p_email)
      when 'calendar_failing' then jsonb_build_object(
        'failing_calendars', private.failing_calendars(p_mail.professional_id)
      )
      else '{}'
    end,
    'client', case
      when v_client.id is not null then jsonb_build_object(
        'id', v_client.id,
        'name', v_client.name,
        'email', v_client.email,
        'phone', v_client.phone,
        'link_epoch', v_client.link_epoch,
        'proven', coalesce(private.address_is_proven(v_profile.id, v_client.email), false)
      )
    end,
    'may_quote', v_may_quote,
    'booking', private.booking_facts(p_subject, p_mail.audience, v_may_quote),
    'order', private.order_facts(p_subject, p_mail.audience, v_may_quote),
    'payment', case
      when v_payment.id is not null then jsonb_build_object(
        'id', v_payment.id,
        'kind', v_payment.kind,
        'amount', private.amount_text(v_payment.amount, (p_subject."order").currency),
        'currency', (p_subject."order").currency,
        'method', v_payment.method,
        'created_at', private.timestamp_text(v_payment.created_at)
      )
    end,
    'address_token_subject', null,
    'endpoint', null
  );
end;
$$;

comment on function private.mail_facts is
  'All that a mail can say, as it is now: the element of claim_mails().';
