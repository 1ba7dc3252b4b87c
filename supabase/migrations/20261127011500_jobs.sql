-- What runs by itself, in one list: for pg_cron where the platform has it, for the local stack's
-- scheduler elsewhere, and for health(), which looks whether all of it is scheduled.

create function private.jobs()
returns table (name text, schedule text, command text)
language sql
immutable
security invoker
set search_path = ''
as $$
  values
    ('unpaid-orders', '10 seconds', 'select private.cancel_unpaid_orders()'),
    ('expired-holds', '10 seconds', 'select private.sweep_holds()'),
    ('webhook-dispatch', '10 seconds', $job$select private.ring_dispatcher('webhooks')$job$),
    ('mail-dispatch', '10 seconds', $job$select private.ring_dispatcher('mail')$job$),
    ('payment-dispatch', '10 seconds', $job$select private.ring_dispatcher('payments')$job$),
    ('calendar-dispatch', '10 seconds', $job$select private.ring_dispatcher('calendar')$job$),
    ('account-dispatch', '* * * * *', $job$select private.ring_dispatcher('account')$job$),
    ('mail-reminders', '* * * * *', 'select private.queue_reminders()'),
    ('request-counter', '* * * * *', 'select private.check_request_counter()'),
    ('request-counters', '7 * * * *', 'select private.forget_request_counters()'),
    ('idempotency-keys', '0 3 * * *', 'select private.forget_idempotency_keys()'),
    ('portal-traces', '10 3 * * *', 'select private.forget_portal_traces()'),
    ('api-keys', '15 3 * * *', 'select private.forget_api_keys()'),
    ('webhook-history', '20 3 * * *', 'select private.cleanup_webhooks()'),
    ('mail-history', '25 3 * * *', 'select private.forget_mails()'),
    ('checkouts', '28 3 * * *', 'select private.forget_checkouts()'),
    ('time-zones', '30 3 * * *', 'select private.learn_time_zones()'),
    ('job-runs', '40 3 * * *', 'select private.forget_job_runs()');
$$;

comment on function private.jobs is
  'Name, schedule (as pg_cron reads it, UTC) and command of every job. Commands are short: pg_cron keeps their text with every run.';

do $$
begin
  if exists (select from pg_available_extensions where name = 'pg_cron') then
    create extension if not exists pg_cron with schema pg_catalog;
    perform cron.schedule(name, schedule, command) from private.jobs();
  end if;
  if exists (select from pg_available_extensions where name = 'pg_net') then
    create extension if not exists pg_net with schema extensions;
  end if;
end
$$;
