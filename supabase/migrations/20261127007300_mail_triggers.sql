-- Which change is which mail. AFTER triggers, so there is no path around them, and what is rolled
-- back tells nobody. They write one small row for each side, wait for nobody and refuse nothing:
-- whether a mail may go is asked when it goes.

create function private.wants_mail(p_professional_id uuid)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if current_setting('private.mail', true) = 'none' then
    return false;
  end if;
  return not (
    current_setting('request.headers', true) like '%"x-mail"%'
    and nullif(current_setting('request.headers', true), '')::jsonb ->> 'x-mail' = 'none'
    -- Or anybody could book without the professional hearing of it.
    and private.caller_manages(p_professional_id)
  );
end;
$$;

comment on function private.wants_mail is
  'False for an import: the header x-mail: none of the professional or a server, or the setting private.mail = none in SQL.';

create function private.is_own_change(p_professional_id uuid)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return private.caller_role() = 'authenticated'
    and private.caller_professional_id() = p_professional_id;
end;
$$;

comment on function private.is_own_change is
  'Whether the professional makes this change, and so knows of it; null outside a request.';

-- No unique index stands behind this: an insert that meets a row which a claim has in its hands
-- would wait for it. Changes of one professional come one after the other, under the write lock.
create function private.queue_change(
  p_audience text,
  p_kind text,
  p_professional_id uuid,
  p_client_id uuid,
  p_booking_id uuid,
  p_order_id uuid,
  p_detail jsonb default '{}',
  p_quiet interval default '0'
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_waiting private.mails;
begin
  -- One that is locked is being claimed: what it will say may be from before this change.
  select * into v_waiting
  from private.mails
  where (booking_id = p_booking_id or order_id = p_order_id)
    and audience = p_audience
    and kind = p_kind
    and status = 'queued'
    and claim_token is null
  limit 1
  for update skip locked;

  if not found then
    insert into private.mails (
      professional_id, audience, kind, client_id, booking_id, order_id, detail, due_at
    )
    values (
      p_professional_id,
      p_audience,
      p_kind,
      p_client_id,
      p_booking_id,
      p_order_id,
      p_detail,
      now() + p_quiet
    );
  elsif p_quiet > '0' and v_waiting.attempts = 0 then
    update private.mails
    set due_at = least(now() + p_quiet, created_at + 5 * p_quiet)
    where id = v_waiting.id;
  end if;
end;
$$;

comment on function private.queue_change is
  'Queues a mail about a change of a booking or order; one of its kind that still waits tells of this change too. p_quiet: how long it waits for the next one, five times that at most.';

-- Definer, like the others here: whoever changes a row holds no rights on the queue.
create function private.queue_booking_mails()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_kind text;
  v_was jsonb := '{}';
  v_quiet interval := '0';
begin
  if new.starts_at <= now() or not private.wants_mail(new.professional_id) then
    return null;
  end if;

  -- A hold is nobody's news; the one mail is for who has to confirm it. Who has to pay is on the
  -- page, and nobody who typed another's address has us write there.
  if new.expires_at is not null then
    if tg_op = 'INSERT' and (current_setting('private.awaits_payment', true) = 'on') is not true
    then
      insert into private.mails (professional_id, audience, kind, client_id, booking_id)
      values (new.professional_id, 'client', 'booking_to_confirm', new.client_id, new.id);
    end if;
    return null;
  end if;

  if tg_op = 'INSERT' or old.expires_at is not null then
    insert into private.mails (professional_id, audience, kind, client_id, booking_id)
    select new.professional_id, news.audience, news.kind, new.client_id, new.id
    from (
      values
        (
          'client',
          case new.status when 'pending' then 'booking_received' else 'booking_confirmed' end
        ),
        ('professional', 'new_booking')
    ) as news (audience, kind)
    where news.audience = 'client'
      or (new.source <> 'owner' and private.is_own_change(new.professional_id) is not true);
    return null;
  end if;

  if new.status <> old.status and new.status in ('confirmed', 'cancelled') then
    v_kind := 'booking_' || new.status;
  elsif (new.starts_at, new.ends_at) <> (old.starts_at, old.ends_at) then
    v_kind := 'booking_moved';
    v_was := jsonb_build_object('starts_at', old.starts_at, 'ends_at', old.ends_at);
    v_quiet := '60 seconds';
  else
    return null;
  end if;

  perform private.queue_change(
    'client', v_kind, new.professional_id, new.client_id, new.id, null, v_was, v_quiet
  );
  if v_kind <> 'booking_confirmed' and private.caller_is_client() then
    perform private.queue_change(
      'professional', v_kind, new.professional_id, new.client_id, new.id, null, v_was, v_quiet
    );
  end if;
  return null;
end;
$$;

comment on function private.queue_booking_mails is
  'AFTER INSERT OR UPDATE of an appointment that is to come: to be confirmed while it is a hold; received or confirmed, moved, cancelled.';

create function private.queue_order_mails()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  -- What was booked is told by the booking's own mails.
  if (new.booking_id is not null and new.source <> 'owner')
    or not private.wants_mail(new.professional_id)
  then
    return null;
  end if;

  if new.expires_at is not null then
    if tg_op = 'INSERT' and (current_setting('private.awaits_payment', true) = 'on') is not true
    then
      insert into private.mails (professional_id, audience, kind, client_id, order_id)
      values (new.professional_id, 'client', 'order_to_confirm', new.client_id, new.id);
    end if;
    return null;
  end if;

  if tg_op = 'INSERT' or old.expires_at is not null then
    insert into private.mails (professional_id, audience, kind, client_id, order_id)
    select new.professional_id, news.audience, news.kind, new.client_id, new.id
    from (
      values ('client', 'order_received'), ('professional', 'new_order')
    ) as news (audience, kind)
    where news.audience = 'client'
      or (new.source <> 'owner' and private.is_own_change(new.professional_id) is not true);
  elsif new.status in ('confirmed', 'cancelled') then
    perform private.queue_change(
      'client', 'order_' || new.status, new.professional_id, new.client_id, null, new.id
    );
  end if;
  return null;
end;
$$;

comment on function private.queue_order_mails is
  'AFTER INSERT OR UPDATE of an order: to be confirmed while it is a hold; received, confirmed, cancelled.';

create function private.queue_payment_mails()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if not private.wants_mail(new.professional_id) then
    return null;
  end if;

  insert into private.mails (professional_id, audience, kind, client_id, order_id, payment_id)
  select new.professional_id, news.audience, news.kind, o.client_id, new.order_id, new.id
  from public.orders o
  cross join (
    values
      (
        'client',
        case new.kind
          when 'payment' then 'payment_received'
          when 'refund' then 'payment_refunded'
        end
      ),
      ('professional', case new.kind when 'payment' then 'payment_received' end)
  ) as news (audience, kind)
  where o.professional_id = new.professional_id
    and o.id = new.order_id
    and news.kind is not null
    and (
      news.audience = 'client' or private.is_own_change(new.professional_id) is not true
    );
  return null;
end;
$$;

comment on function private.queue_payment_mails is
  'AFTER INSERT on payments: received, refunded.';

create function private.queue_failed_refund_mail(p_refund private.provider_refunds)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  insert into private.mails (professional_id, audience, kind, client_id, order_id, payment_id)
  select p.professional_id, 'professional', 'payment_refund_failed', o.client_id, o.id, p.id
  from private.payments p
  join public.orders o on o.professional_id = p.professional_id and o.id = p.order_id
  where p.id = p_refund.payment_id and private.wants_mail(p.professional_id);
$$;

comment on function private.queue_failed_refund_mail is
  'Tells the professional of money that should have gone back by itself.';

-- Blocked time has no client and is nobody else's business.
create trigger bookings_7_queue_mails_on_insert
  after insert on public.bookings
  for each row when (new.client_id is not null)
  execute function private.queue_booking_mails();

create trigger bookings_7_queue_mails_on_update
  after update on public.bookings
  for each row when (
    new.client_id is not null
    and (new.status, new.starts_at, new.ends_at, new.expires_at)
      is distinct from (old.status, old.starts_at, old.ends_at, old.expires_at)
  )
  execute function private.queue_booking_mails();

create trigger orders_7_queue_mails_on_insert
  after insert on public.orders
  for each row execute function private.queue_order_mails();

create trigger orders_7_queue_mails_on_update
  after update on public.orders
  for each row when ((new.status, new.expires_at) is distinct from (old.status, old.expires_at))
  execute function private.queue_order_mails();

create trigger payments_7_queue_mails
  after insert on private.payments
  for each row execute function private.queue_payment_mails();

select private.hand_over('queue_booking_mails', 'queue_order_mails', 'queue_payment_mails');
