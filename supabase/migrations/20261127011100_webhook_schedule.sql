-- What jobs (jobs.sql) do for webhooks: ring the dispatcher, and remove what is past its time.

create function private.cleanup_webhooks()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  delete from private.webhook_attempts
  where id in (
    select id
    from private.webhook_attempts
    where started_at < now() - interval '30 days'
    for update skip locked
  );

  delete from private.webhook_owner_mails where created_at < now() - interval '1 day';

  with expired as (
    delete from private.webhook_events
    where (professional_id, sequence) in (
      select professional_id, sequence
      from private.webhook_events
      where created_at < now() - interval '30 days'
      for update skip locked
    )
    returning professional_id, sequence
  )
  insert into private.webhook_expired_events as e (professional_id, sequence)
  select professional_id, max(sequence)
  from expired
  group by professional_id
  on conflict (professional_id) do update
  set sequence = greatest(e.sequence, excluded.sequence);

  delete from private.webhook_previous_secrets where expires_at < now();

  -- A budget that is full again says nothing more.
  delete from private.webhook_budgets
  where professional_id in (
    select professional_id from private.webhook_budgets where full_at < now() for update skip locked
  );
$$;

comment on function private.cleanup_webhooks is
  'Removes events, with their deliveries, and tries that are older than 30 days, secrets that no longer sign, budgets that are full, and what counted mails to owners; notes how far each professional''s events go back.';

-- pg_net sends nothing twice and forgets in a crash, so it only rings the bell: what is to be sent
-- stays in our tables until it was. Not a definer and granted to nobody: it runs as `postgres`, who
-- schedules it, may read the vault and may use pg_net. Where these are not there it is never
-- called.
create function private.ring_dispatcher(p_function text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_due boolean;
begin
  execute format('select private.%I()', p_function || '_due') into v_due;
  if v_due then
    perform net.http_post(
      url := u.decrypted_secret || '/functions/v1/' || p_function || '/dispatch',
      headers := jsonb_build_object(
        'Content-Type', 'application/json', 'apikey', s.decrypted_secret
      ),
      body := '{}',
      -- pg_net sends one batch at a time for the whole project, and the route answers at once.
      timeout_milliseconds := 5000
    )
    from vault.decrypted_secrets u
    cross join vault.decrypted_secrets s
    -- A dispatcher works until nothing is due; but a calendar may need all the time of a call.
    cross join generate_series(
      1,
      case p_function
        when 'calendar' then (select count(*) from private.calendar_rings())
        else 1
      end
    )
    where u.name = 'project_url' and s.name = 'dispatch_secret';
  end if;
end;
$$;

comment on function private.ring_dispatcher is
  'Calls POST /dispatch of an edge function when private.<function>_due() says so; calendar as often as it has calendars to read.';
