-- Sending once more what an endpoint has missed, and a first event to try it with.

create function private.find_enabled_webhook_endpoint(p_endpoint_id uuid)
returns private.webhook_endpoints
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_endpoint constant private.webhook_endpoints := private.find_webhook_endpoint(p_endpoint_id);
begin
  if not v_endpoint.enabled then
    perform private.raise_error(409, 'endpoint_disabled', 'The endpoint is disabled.');
  end if;
  return v_endpoint;
end;
$$;

comment on function private.find_enabled_webhook_endpoint is
  'An endpoint of the caller that can be sent to; 404 PGRST301, 409 endpoint_disabled.';

-- Definer, like all that follow: nobody has rights on the tables.
create function private.test_webhook_endpoint(p_endpoint_id uuid)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
begin
  perform private.check_arguments(case when p_endpoint_id is null then 'endpoint_id' end);
  perform private.lock_professional(v_professional_id);
  perform private.find_enabled_webhook_endpoint(p_endpoint_id);

  insert into private.webhook_deliveries (professional_id, endpoint_id, event_id)
  values (
    v_professional_id,
    p_endpoint_id,
    private.record_event(
      v_professional_id,
      'webhook.test',
      jsonb_build_object('endpoint_id', p_endpoint_id),
      null,
      null
    )
  );
  return jsonb_build_object('queued', 1);
end;
$$;

create function private.redeliver_webhook(p_delivery_id uuid)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_endpoint_id uuid;
begin
  perform private.check_arguments(case when p_delivery_id is null then 'delivery_id' end);
  perform private.lock_professional(v_professional_id);

  select endpoint_id into v_endpoint_id
  from private.webhook_deliveries
  where professional_id = v_professional_id and id = p_delivery_id;

  if not found then
    perform private.raise_not_found('delivery');
  end if;
  perform private.find_enabled_webhook_endpoint(v_endpoint_id);

  update private.webhook_deliveries
  set status = 'pending', attempts = 0, next_attempt_at = now(), claim_token = null
  where id = p_delivery_id
    -- A try that is under way is the one asked for.
    and (claim_token is not null and next_attempt_at > now()) is not true;
  return jsonb_build_object('queued', 1);
end;
$$;

create function private.redeliver_webhooks(p_endpoint_id uuid, p_since text)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_since constant timestamptz := private.parse_instant(p_since);
  v_endpoint private.webhook_endpoints;
  v_queued integer;
begin
  perform private.check_arguments(case when p_endpoint_id is null then 'endpoint_id' end);
  perform private.lock_professional(v_professional_id);
  v_endpoint := private.find_enabled_webhook_endpoint(p_endpoint_id);

  insert into private.webhook_deliveries as d (professional_id, endpoint_id, event_id)
  select v.professional_id, p_endpoint_id, v.id
  from private.webhook_events v
  where v.professional_id = v_professional_id
    and v.created_at >= v_since
    and v.type <> 'webhook.test'
    and private.webhook_filters(v.type) && v_endpoint.events
  order by v.sequence
  on conflict (professional_id, event_id, endpoint_id) do update
  set status = 'pending', attempts = 0, next_attempt_at = now(), claim_token = null
  where d.status in ('failed', 'cancelled');

  get diagnostics v_queued = row_count;
  return jsonb_build_object('queued', v_queued);
end;
$$;

create function public.test_webhook_endpoint(endpoint_id uuid)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.test_webhook_endpoint($1);
$$;

comment on function public.test_webhook_endpoint is
  'Sends a webhook.test event to one endpoint, whatever it listens to: {queued}. Errors: 404 PGRST301; 409 endpoint_disabled.';

create function public.redeliver_webhook(delivery_id uuid)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.redeliver_webhook($1);
$$;

comment on function public.redeliver_webhook is
  'Sends a delivery again, with ten new tries and the same webhook-id: {queued}. Errors: 404 PGRST301; 409 endpoint_disabled.';

create function public.redeliver_webhooks(endpoint_id uuid, since text)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.redeliver_webhooks($1, $2);
$$;

comment on function public.redeliver_webhooks is
  'Sends an endpoint what it has missed since an instant: failed and cancelled deliveries, and events from when it was disabled or not there: {queued}. Errors: 404 PGRST301; 409 endpoint_disabled; 422 invalid_time.';

grant execute on function
  public.test_webhook_endpoint (uuid),
  private.test_webhook_endpoint (uuid),
  public.redeliver_webhook (uuid),
  private.redeliver_webhook (uuid),
  public.redeliver_webhooks (uuid, text),
  private.redeliver_webhooks (uuid, text)
to authenticated;

select private.hand_over('test_webhook_endpoint', 'redeliver_webhook', 'redeliver_webhooks');
