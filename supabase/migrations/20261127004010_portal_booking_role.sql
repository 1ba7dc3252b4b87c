-- The role of whoever opened the link in a booking's mail: sees and changes that one booking. A
-- role of its own, because a policy or RPC for portal clients asks which client it is, and would
-- have to remember to ask which booking: here the client is not to be had at all.

do $$
begin
  -- Roles outlive a database reset.
  if not exists (select from pg_roles where rolname = 'portal_booking') then
    create role portal_booking nologin noinherit;
  end if;
end
$$;

grant portal_booking to authenticator;

grant portal_booking to postgres with inherit false, set true;

grant usage on schema public to portal_booking;

grant usage on schema private to portal_booking;

grant execute on function
  private.timestamp_json (public.timestamp_ms),
  private.timestamp_from_json (json)
to portal_booking;

grant execute on function private.caller_professional_id () to portal_booking;

grant execute on function private.portal_booking_id (uuid) to portal_booking;

grant execute on function private.jwt_claims () to portal_booking;

-- The columns of portal clients, and no other table: neither the client's name nor an order.
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
) on public.bookings to portal_booking;

create policy bookings_select_link on public.bookings
  for select to portal_booking
  using (
    professional_id = (select private.caller_professional_id())
    and id = (select private.portal_booking_id(private.caller_professional_id()))
    and (expires_at is null or expires_at > now() or checkout_open)
  );

-- Not create_booking, quote_order and place_order: whoever wants more signs in, or asks as the
-- public.
grant execute on function
  public.booking_page (text),
  private.booking_page (text),
  public.available_slots (uuid, text, text, uuid),
  private.available_slots (uuid, text, text, uuid),
  public.explain_slot (uuid, text),
  private.explain_slot (uuid, text),
  public.cancel_booking (uuid, text, boolean),
  private.cancel_booking (uuid, text, boolean),
  public.reschedule_booking (uuid, text),
  private.reschedule_booking (uuid, text),
  public.authorize_checkout (uuid),
  private.authorize_checkout (uuid)
to portal_booking;

comment on policy bookings_select_link on public.bookings is
  'Whoever opened the link of a booking reads that booking, but no hold that is over.';
