-- RPC of the dispatcher: say how a try went. When the next one is, and when an endpoint has had
-- enough, is decided here.

create function private.webhook_retry_delay(
  p_attempts integer,
  p_retry_after integer,
  p_random double precision
)
returns interval
language sql
immutable
security invoker
set search_path = ''
as $$
  select case
    -- What the receiver asks for, but neither sooner than our step nor more than twice as late.
    when p_retry_after is not null
      then least(greatest(make_interval(secs => p_retry_after), step), step * 2)
    else step * (0.8 + 0.4 * p_random)
  end
  from (
    select (array[
      '5 seconds',
      '5 minutes',
      '30 minutes',
      '2 hours',
      '5 hours',
      '10 hours',
      '14 hours',
      '20 hours',
      '24 hours'
    ]::interval[])[p_attempts] as step
  ) as schedule
  where step is not null;
$$;

comment on function private.webhook_retry_delay is
  'Time from a failed try to the next one, with 20 % jitter by p_random (0 to 1); null after the tenth.';

create function private.disable_webhook_endpoint(p_endpoint_id uuid, p_reason text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  update private.webhook_endpoints
  set enabled = false, disabled_reason = p_reason
  where id = p_endpoint_id;

  -- A try that is under way may still succeed, so it keeps its token.
  update private.webhook_deliveries d
  set status = 'cancelled', next_attempt_at = null
  from private.webhook_endpoints e
  where e.id = p_endpoint_id
    and d.professional_id = e.professional_id
    and d.endpoint_id = e.id
    and d.status = 'pending';
$$;

comment on function private.disable_webhook_endpoint is
  'Disables an endpoint and cancels what is pending there. Call it under the write lock, or an event could come in between.';

-- Whoever signs up with somebody's address could have us write to them as often as endpoints can
-- be made and fail. Without a foreign key to the endpoint: what was told counts when that is gone.
create table private.webhook_owner_mails (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  endpoint_id uuid not null
);

create index webhook_owner_mails_professional_id_created_at_idx
  on private.webhook_owner_mails (professional_id, created_at);

create function private.may_mail_webhook_owner(p_professional_id uuid, p_endpoint_id uuid)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select count(*) < 3 and count(*) filter (where endpoint_id = p_endpoint_id) = 0
  from private.webhook_owner_mails
  where professional_id = p_professional_id and created_at > now() - interval '1 day';
$$;

comment on function private.may_mail_webhook_owner is
  'Whether the owner may get one more mail: one a day for an endpoint, three in all. Call it under the write lock.';

-- Nothing else of an address goes into a mail: it is text of whoever made the endpoint.
create function private.webhook_host(p_url text)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select substring(
    p_url from '^https?://([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]+)?(?:[/?#\\]|$)'
  );
$$;

comment on function private.webhook_host is
  'The host of an address, without port, path and user; null where it is not plainly one.';

-- Definer: nobody has rights on the queue.
create function private.finish_webhook_delivery(
  p_delivery_id uuid,
  p_claim_token uuid,
  p_duration_ms integer,
  p_status integer,
  p_response text,
  p_error text,
  p_retry_after integer
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_succeeded constant boolean := coalesce(p_status between 200 and 299, false);
  -- An answer whose body only drips is given up after a second, so it is one of them.
  v_slow constant boolean := p_duration_ms >= 1000;
  v_endpoint private.webhook_endpoints;
  v_delivery private.webhook_deliveries;
  v_disabled_reason text;
  v_delay interval;
begin
  perform private.check_arguments(
    case when p_delivery_id is null then 'delivery_id' end,
    case when p_claim_token is null then 'claim_token' end,
    case when (p_duration_ms >= 0) is not true then 'duration_ms' end,
    case when p_status not between 100 and 999 then 'status' end,
    case when char_length(p_response) > 4096 then 'response' end,
    case when char_length(p_error) > 500 then 'error' end,
    case when p_retry_after < 0 then 'retry_after' end
  );

  select e.* into v_endpoint
  from private.webhook_deliveries d
  join private.webhook_endpoints e on e.id = d.endpoint_id
  where d.id = p_delivery_id;

  -- Locks in the order of everybody: professional, endpoint, delivery.
  if not v_succeeded and (
    p_status = 410
    or (v_endpoint.failed_tries >= 9 and v_endpoint.failing_since <= now() - interval '5 days')
  ) then
    v_disabled_reason := case p_status when 410 then 'gone' else 'failing' end;
    perform private.lock_professional(v_endpoint.professional_id);
  end if;
  select * into v_endpoint
  from private.webhook_endpoints
  where id = v_endpoint.id
  for no key update;

  delete from private.webhook_leases where id = p_claim_token;

  select * into v_delivery
  from private.webhook_deliveries
  where id = p_delivery_id and claim_token = p_claim_token
  for update;

  if not found then
    return null;
  elsif not v_endpoint.enabled then
    v_disabled_reason := null;
  end if;

  update private.webhook_attempts
  set
    duration_ms = p_duration_ms,
    status = p_status,
    response = p_response,
    error = p_error
  where professional_id = v_delivery.professional_id and id = p_claim_token;

  if v_succeeded then
    v_delivery.status := 'succeeded';
  elsif v_delivery.status = 'pending' then
    v_delay := private.webhook_retry_delay(v_delivery.attempts, p_retry_after, random());
    if v_delay is null or p_status = 410 then
      v_delivery.status := 'failed';
    end if;
  end if;

  update private.webhook_deliveries
  set
    status = v_delivery.status,
    next_attempt_at = case when v_delivery.status = 'pending' then now() + v_delay end,
    claim_token = null,
    last_status = p_status
  where id = p_delivery_id;

  update private.webhook_endpoints
  set
    failing_since = case when not v_succeeded then coalesce(failing_since, now()) end,
    failed_tries = case when v_succeeded then 0 else failed_tries + 1 end,
    slow_tries = case when v_slow then least(slow_tries + 1, 3) else 0 end
  where id = v_endpoint.id
    -- Not for the usual success, which changes none of them.
    and (
      not v_succeeded
      or failing_since is not null
      or slow_tries <> case when v_slow then 3 else 0 end
    );

  if v_disabled_reason is null then
    return null;
  end if;
  perform private.disable_webhook_endpoint(v_endpoint.id, v_disabled_reason);

  if not private.may_mail_webhook_owner(v_endpoint.professional_id, v_endpoint.id) then
    return null;
  end if;
  insert into private.webhook_owner_mails (professional_id, endpoint_id)
  values (v_endpoint.professional_id, v_endpoint.id);
  return jsonb_build_object(
    'reason', v_disabled_reason,
    'host', private.webhook_host(v_endpoint.url),
    'email', private.owner_email(v_endpoint.professional_id)
  );
end;
$$;

create function public.finish_webhook_delivery(
  delivery_id uuid,
  claim_token uuid,
  duration_ms integer,
  status integer default null,
  response text default null,
  error text default null,
  retry_after integer default null
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_webhook_delivery($1, $2, $3, $4, $5, $6, $7);
$$;

comment on function public.finish_webhook_delivery is
  'Server only. Logs a try and schedules the next one; does nothing once the claim is another''s. Returns {reason, host, email} of the owner, who is to be told, when it disabled the endpoint: answered 410 (gone), or no success for five days and ten tries (failing). Null as well when the owner was told enough today: once of an endpoint, three times in all.';

alter table private.webhook_owner_mails enable row level security;

grant select, insert on private.webhook_owner_mails to rules;

create policy webhook_owner_mails_all_rules on private.webhook_owner_mails
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.finish_webhook_delivery (uuid, uuid, integer, integer, text, text, integer),
  private.finish_webhook_delivery (uuid, uuid, integer, integer, text, text, integer)
to service_role;

comment on table private.webhook_owner_mails is
  'Mails to owners about disabled endpoints in the last day, for the limits on them.';

select private.hand_over('finish_webhook_delivery');
