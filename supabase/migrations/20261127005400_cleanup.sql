-- What a year without hands needs: whatever is past its time goes. A function for each kind of row,
-- and a job for each function (jobs.sql): what a job has locked it keeps until it commits, and
-- counters and write locks must not wait for each other's rows. Rows that somebody is at work on
-- are left for the next run.

create index orders_unpaid_from_the_public_idx
  on public.orders (professional_id, created_at)
  where status = 'pending'
    and payment_status = 'unpaid'
    and source <> 'owner'
    and expires_at is null;

create function private.cancel_unpaid_orders()
returns boolean
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
        and o.payment_status = 'unpaid'
        and o.source <> 'owner'
        and o.expires_at is null
        -- Goes with its booking, if at all.
        and o.booking_id is null
        and not o.checkout_open
        and o.created_at < now() - make_interval(hours => p.unpaid_order_hours)
    )
    order by random()
  loop
    if private.try_lock_professional(v_professional_id) then
      -- The cancellation puts the stock back and tells the webhooks, like every other.
      update public.orders
      set status = 'cancelled'
      where professional_id = v_professional_id
        and status = 'pending'
        and payment_status = 'unpaid'
        and source <> 'owner'
        and expires_at is null
        and booking_id is null
        and not checkout_open
        and created_at < now() - make_interval(hours => v_unpaid_order_hours);
      return true;
    end if;
  end loop;
  return false;
end;
$$;

comment on function private.cancel_unpaid_orders is
  'Cancels the orders of one professional from the public that stayed unpaid longer than unpaid_order_hours, and says whether there were any. Not holds, not while a payment page may be open, not what was booked. One a call, so that no write lock is held for another''s sake.';

create function private.forget_idempotency_keys()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  delete from private.idempotency_keys
  where (professional_id, function, key) in (
    select professional_id, function, key
    from private.idempotency_keys
    where created_at < now() - interval '7 days'
    for update skip locked
  );
$$;

comment on function private.forget_idempotency_keys is 'Removes keys that are older than seven days.';

create function private.forget_portal_traces()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  delete from private.portal_code_requests where created_at < now() - interval '1 day';

  delete from private.portal_codes
  where (professional_id, client_id) in (
    select professional_id, client_id
    from private.portal_codes
    where expires_at < now() - interval '1 day' and coalesce(locked_until, '-infinity') < now()
    for update skip locked
  );

  delete from private.portal_sessions
  where id in (
    select id
    from private.portal_sessions
    where expires_at < now() - interval '1 day'
    for update skip locked
  );

  delete from private.booking_sessions
  where id in (
    select id
    from private.booking_sessions
    where expires_at < now() - interval '1 day'
    for update skip locked
  );
$$;

comment on function private.forget_portal_traces is
  'Removes requests for codes, codes and sessions that ended more than a day ago.';

create function private.forget_request_counters()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  delete from private.request_counters
  where key in (
    select key from private.request_counters where full_at < now() for update skip locked
  );
$$;

comment on function private.forget_request_counters is
  'Removes counters whose budget is full again: they say nothing more, and their keys hold addresses of callers.';

create function private.learn_time_zones()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  insert into private.time_zones (name)
  select private.time_zone_names()
  on conflict do nothing;
$$;

comment on function private.learn_time_zones is 'Adds zones that an update of the server has brought.';

create function private.forget_job_runs()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if to_regclass('cron.job_run_details') is not null then
    execute 'delete from cron.job_run_details where end_time < now() - interval ''7 days''';
  end if;
end;
$$;

comment on function private.forget_job_runs is
  'Removes what pg_cron keeps of runs, after seven days; it would keep it for ever.';
