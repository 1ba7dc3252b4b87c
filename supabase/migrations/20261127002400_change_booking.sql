-- RPCs: cancel and move a booking. The owner may at any time, a client until the notice that was
-- agreed when it was booked.

create function private.check_cancellation_notice(p_booking public.bookings)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if private.caller_is_client()
    and now() > p_booking.starts_at - make_interval(mins => p_booking.cancellation_notice)
  then
    perform private.raise_error(
      422, 'too_late', 'It is too late to change this booking; please call.'
    );
  end if;
end;
$$;

comment on function private.check_cancellation_notice is
  '422 too_late for a client within the booking''s cancellation_notice before the start, or after it.';

-- Definer: clients change bookings only through here.
create function private.cancel_booking(p_booking_id uuid, p_reason text, p_refund boolean)
returns public.booking_receipt
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_booking public.bookings;
begin
  perform private.check_arguments(
    case when p_booking_id is null then 'booking_id' end,
    case when char_length(p_reason) > 1000 then 'reason' end,
    case when p_refund is null then 'refund' end
  );
  v_booking := private.find_callers_booking(p_booking_id);
  perform private.lock_professional(v_booking.professional_id);
  perform private.end_expired_holds(v_booking.professional_id);
  v_booking := private.find_callers_booking(p_booking_id);

  if v_booking.status <> 'cancelled' then
    perform private.check_cancellation_notice(v_booking);

    -- Only the professional keeps the money: a client in time gets it back.
    if not p_refund and private.caller_manages(v_booking.professional_id) then
      perform set_config('private.refund', 'none', true);
    end if;
    update public.bookings
    set status = 'cancelled', cancel_reason = p_reason
    where id = p_booking_id;
    perform set_config('private.refund', '', true);
  end if;
  return private.booking_receipt(p_booking_id);
end;
$$;

create function private.reschedule_booking(p_booking_id uuid, p_starts_at text)
returns public.booking_receipt
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_booking public.bookings;
  v_starts_at timestamptz;
  v_is_client constant boolean := private.caller_is_client();
  v_needs_confirmation boolean;
begin
  perform private.check_arguments(case when p_booking_id is null then 'booking_id' end);
  v_starts_at := private.parse_instant(p_starts_at);
  v_booking := private.find_callers_booking(p_booking_id);
  perform private.lock_professional(v_booking.professional_id);
  perform private.end_expired_holds(v_booking.professional_id);
  v_booking := private.find_callers_booking(p_booking_id);

  perform private.check_booking_may_move(v_booking.status, v_booking.status);

  if v_starts_at <> v_booking.starts_at then
    if v_is_client then
      perform private.check_cancellation_notice(v_booking);
      perform private.check_slot(
        private.service_slot_rules(v_booking.service_id, p_booking_id), v_starts_at
      );
      v_needs_confirmation := (
        select requires_confirmation from public.services where id = v_booking.service_id
      );
    end if;

    update public.bookings
    set
      starts_at = v_starts_at,
      status = case when v_needs_confirmation then 'pending' else status end
    where id = p_booking_id;
  end if;
  return private.booking_receipt(p_booking_id);
end;
$$;

create function public.cancel_booking(
  booking_id uuid,
  reason text default null,
  refund boolean default true
)
returns public.booking_receipt
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.cancel_booking($1, $2, $3);
$$;

comment on function public.cancel_booking is
  'Cancels a booking of yours, with the order made with it; cancelling twice returns the same row. What a provider collected goes back, unless the professional says refund false. Errors: 404 PGRST301; 409 invalid_transition; 422 validation_failed {"fields"}; for clients too_late.';

create function public.reschedule_booking(booking_id uuid, starts_at text)
returns public.booking_receipt
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.reschedule_booking($1, $2);
$$;

comment on function public.reschedule_booking is
  'Moves a booking of yours; id, price and length stay. A client needs a free start and may have to be confirmed again. Errors: 404 PGRST301; 409 slot_taken, invalid_transition; 422 invalid_time, validation_failed {"fields"}; for clients 422 too_late and the reasons of explain_slot.';

grant execute on function public.cancel_booking (uuid, text, boolean)
  to authenticated, service_role;

grant execute on function private.cancel_booking (uuid, text, boolean)
  to authenticated, service_role;

grant execute on function public.reschedule_booking (uuid, text) to authenticated, service_role;

grant execute on function private.reschedule_booking (uuid, text) to authenticated, service_role;

select private.hand_over('cancel_booking', 'reschedule_booking');
