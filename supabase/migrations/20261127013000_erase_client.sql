-- RPC: a client asks to be forgotten. The rows that accounts need stay; who it was goes. Last of
-- the files, because every table that keeps something of a client has its line here.

-- Definer: also empties bookkeeping that no API role may touch.
create function private.erase_client(p_client_id uuid)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_address_digest bytea;
begin
  perform private.check_arguments(case when p_client_id is null then 'client_id' end);
  perform private.lock_professional(v_professional_id);

  delete from private.webhook_events
  where professional_id = v_professional_id and client_id = p_client_id and not of_erasure;

  select private.address_digest(email) into v_address_digest
  from public.clients
  where id = p_client_id and professional_id = v_professional_id;

  -- What follows is told to webhooks, but not what was there before.
  perform set_config('private.erasing', 'on', true);

  update public.clients
  set
    name = 'Erased',
    email = null,
    phone = null,
    notes = null,
    tags = '{}',
    archived = true,
    metadata = '{}'
  where id = p_client_id and professional_id = v_professional_id;

  if not found then
    perform private.raise_not_found('client');
  end if;

  -- After the client's row: who signs in has that first, and then proves the address.
  delete from private.proven_addresses
  where professional_id = v_professional_id and address_digest = v_address_digest;

  delete from private.mails
  where professional_id = v_professional_id and client_id = p_client_id;

  delete from private.idempotency_keys
  where professional_id = v_professional_id
    and result_id in (
      select id from public.bookings
      where professional_id = v_professional_id and client_id = p_client_id
      union all
      select id from public.orders
      where professional_id = v_professional_id and client_id = p_client_id
    );

  delete from private.portal_codes
  where professional_id = v_professional_id and client_id = p_client_id;

  delete from private.portal_sessions
  where professional_id = v_professional_id and client_id = p_client_id;

  delete from private.booking_sessions
  where professional_id = v_professional_id
    and booking_id in (
      select id from public.bookings
      where professional_id = v_professional_id and client_id = p_client_id
    );

  update public.bookings
  set notes = null, internal_notes = null, cancel_reason = null, metadata = '{}'
  where professional_id = v_professional_id and client_id = p_client_id;

  update public.orders
  set notes = null, internal_notes = null, shipping_address = null, metadata = '{}'
  where professional_id = v_professional_id and client_id = p_client_id;

  update private.payments
  set reason = null
  where professional_id = v_professional_id
    and order_id in (
      select id from public.orders
      where professional_id = v_professional_id and client_id = p_client_id
    );

  update private.provider_refunds
  set reason = null
  where professional_id = v_professional_id
    and reason is not null
    and payment_id in (
      select p.id
      from private.payments p
      join public.orders o on o.professional_id = p.professional_id and o.id = p.order_id
      where p.professional_id = v_professional_id and o.client_id = p_client_id
    );

  perform set_config('private.erasing', '', true);
  return jsonb_build_object('id', p_client_id);
end;
$$;

create function public.erase_client(client_id uuid)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.erase_client($1);
$$;

comment on function public.erase_client is
  'Removes the personal data of a client of yours from everywhere; bookings and orders stay without it. Returns {id}. Errors: 404 PGRST301; 422 validation_failed {"fields"}.';

grant execute on function public.erase_client (uuid) to authenticated;

grant execute on function private.erase_client (uuid) to authenticated;

select private.hand_over('erase_client');

-- Stays at the end of the last migration.
select private.note_grants();
