-- The client portal's role: somebody who proved an e-mail address of one professional's client base
-- sees and changes own things only. Custom roles cannot use schema `auth` on the hosted platform,
-- so policies here compare with claims read by a `private` helper.

do $$
begin
  -- Roles outlive a database reset.
  if not exists (select from pg_roles where rolname = 'portal_client') then
    create role portal_client nologin noinherit;
  end if;
end
$$;

grant portal_client to authenticator;

-- So that tests and repairs in SQL can take the role; `postgres` made it, but may only give it
-- away.
grant portal_client to postgres with inherit false, set true;

grant usage on schema public to portal_client;

grant usage on schema private to portal_client;

grant execute on function
  private.timestamp_json (public.timestamp_ms),
  private.timestamp_from_json (json)
to portal_client;

grant execute on function private.jwt_claims () to portal_client;

grant execute on function private.caller_role () to portal_client;

grant execute on function private.caller_professional_id () to portal_client;

grant execute on function private.portal_client_id (uuid) to portal_client;

-- Never internal_notes, metadata or buffers.
grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  client_id,
  service_id,
  service_name,
  starts_at,
  ends_at,
  cancellation_notice,
  status,
  price,
  currency,
  notes,
  source,
  cancel_reason,
  cancelled_at,
  cancelled_by,
  expires_at,
  version
) on public.bookings to portal_client;

grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  client_id,
  number,
  kind,
  booking_id,
  items,
  subtotal,
  discount,
  tax,
  total,
  deposit,
  currency,
  status,
  payment_status,
  amount_paid,
  amount_refunded,
  shipping_address,
  notes,
  expires_at,
  version
) on public.orders to portal_client;

grant select (id, name, email, phone), update (name, phone) on public.clients to portal_client;

-- The check constraints and the generated column of clients run as whoever updates the row.
grant execute on function private.is_email (text) to portal_client;

grant execute on function private.email_key (text) to portal_client;

grant execute on function private.trim_invisible (text) to portal_client;

grant execute on function private.is_blank (text) to portal_client;

grant execute on function private.tags_are_short (text[]) to portal_client;

grant execute on function private.languages () to portal_client;

create policy bookings_select_client on public.bookings
  for select to portal_client
  using (
    professional_id = (select private.caller_professional_id())
    and client_id = (select private.portal_client_id(private.caller_professional_id()))
    and (expires_at is null or expires_at > now() or checkout_open)
  );

create policy orders_select_client on public.orders
  for select to portal_client
  using (
    professional_id = (select private.caller_professional_id())
    and client_id = (select private.portal_client_id(private.caller_professional_id()))
    and (expires_at is null or expires_at > now() or checkout_open)
  );

create policy clients_select_client on public.clients
  for select to portal_client
  using (id = (select private.portal_client_id(private.caller_professional_id())));

create policy clients_update_client on public.clients
  for update to portal_client
  using (id = (select private.portal_client_id(private.caller_professional_id())))
  with check (id = (select private.portal_client_id(private.caller_professional_id())));

grant execute on function
  public.booking_page (text),
  private.booking_page (text),
  public.available_slots (uuid, text, text, uuid),
  private.available_slots (uuid, text, text, uuid),
  public.explain_slot (uuid, text),
  private.explain_slot (uuid, text),
  public.create_booking (uuid, text, text, text, text, text, text, text),
  private.create_booking (uuid, text, text, text, text, text, text, text),
  public.cancel_booking (uuid, text, boolean),
  private.cancel_booking (uuid, text, boolean),
  public.reschedule_booking (uuid, text),
  private.reschedule_booking (uuid, text),
  public.quote_order (uuid, jsonb),
  private.quote_order (uuid, jsonb),
  public.place_order (uuid, jsonb, text, text, text, text, jsonb, numeric, text, text),
  private.place_order (uuid, jsonb, text, text, text, text, jsonb, numeric, text, text),
  public.authorize_checkout (uuid),
  private.authorize_checkout (uuid)
to portal_client;

comment on policy bookings_select_client on public.bookings is 'A client reads own bookings, but no hold that is over.';

comment on policy orders_select_client on public.orders is 'A client reads own orders, but no hold that is over.';

comment on policy clients_select_client on public.clients is 'A client reads the own contact data.';

comment on policy clients_update_client on public.clients is
  'A client corrects the own name and phone number.';
