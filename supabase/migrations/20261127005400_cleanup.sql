-- What a year without hands needs: nightly, everything past its time goes.

create function private.cancel_unpaid_orders()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_professional_id uuid;
  v_unpaid_order_hours integer;
begin
  for v_professional_id, v_unpaid_order_hours in
    select p.id, p.unpaid_order_hours
    from public.profiles p
    where exists (
      select
      from public.orders o
      where o.professional_id = p.id
        and o.status = 'pending'
        and o.created_at < now() - make_interval(hours => p.unpaid_order_hours)
    )
  loop
    perform private.lock_professional(v_professional_id);

    -- The cancellation puts the stock back and tells the webhooks, like every other.
    update public.orders
    set status = 'cancelled'
    where professional_id = v_professional_id
      and source <> 'owner'
      and status = 'pending'
      and payment_status = 'unpaid'
      and created_at < now() - make_interval(hours => v_unpaid_order_hours);
  end loop;
end;
$$;

comment on function private.cancel_unpaid_orders is
  'Cancels orders from the public that stayed unpaid longer than their professional''s unpaid_order_hours.';

create function private.cleanup()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.cancel_unpaid_orders();

  delete from private.idempotency_keys where created_at < now() - interval '7 days';

  delete from private.portal_code_requests where created_at < now() - interval '1 day';

  delete from private.portal_codes
  where expires_at < now() - interval '1 day' and coalesce(locked_until, '-infinity') < now();

  delete from private.portal_sessions where expires_at < now() - interval '1 day';

  -- Keys hold IP addresses; a budget that is full again says nothing more.
  delete from private.request_counters where full_at < now();

  perform private.cleanup_webhooks();

  -- Zones that an update of the server has learned.
  insert into private.time_zones (name)
  select private.time_zone_names()
  on conflict do nothing;

  if to_regclass('cron.job_run_details') is not null then
    execute 'delete from cron.job_run_details where end_time < now() - interval ''7 days''';
  end if;
end;
$$;

comment on function private.cleanup is
  'Nightly: unpaid orders, and whatever is past its time.';

-- pg_cron where the platform has it; the local stack's scheduler stands in for it elsewhere.
do $$
begin
  if exists (select from pg_available_extensions where name = 'pg_cron') then
    create extension if not exists pg_cron with schema pg_catalog;
    perform cron.schedule('cleanup', '0 3 * * *', 'select private.cleanup()');
  end if;
end
$$;
