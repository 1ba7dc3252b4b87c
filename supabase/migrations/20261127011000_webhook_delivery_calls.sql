-- The names of the API for webhook_redelivery.sql and webhook_lists.sql. Pages have 1 to 100 rows. Errors of
-- all of them: 422 validation_failed for an argument that is missing or not valid.

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

create function public.webhook_deliveries(
  endpoint_id uuid default null,
  status text default null,
  cursor uuid default null,
  page_size integer default 100
)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.webhook_deliveries($1, $2, $3, $4);
$$;

comment on function public.webhook_deliveries is
  'Your deliveries, newest first: {data: [{id, endpoint_id, event_id, type, status, attempts, next_attempt_at, last_status, created_at}], next_cursor}. Errors: 404 PGRST301; 410 cursor_expired; 422 validation_failed.';

create function public.webhook_attempts(delivery_id uuid)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.webhook_attempts($1);
$$;

comment on function public.webhook_attempts is
  'The newest 100 tries of a delivery: {data: [{started_at, duration_ms, status, response, error}], next_cursor: null}. Errors: 404 PGRST301.';

create function public.webhook_events(
  after bigint default null,
  type text default null,
  page_size integer default 100
)
returns json
language sql
stable
security invoker
set search_path = ''
as $$
  select private.webhook_events($1, $2, $3);
$$;

comment on function public.webhook_events is
  'Your events in the order of their commits, as they are delivered: {data, next_cursor}. Ask for those after the last sequence you have seen. Errors: 410 cursor_expired when some of them are no longer kept; 422 validation_failed.';

grant execute on function
  public.test_webhook_endpoint (uuid),
  private.test_webhook_endpoint (uuid),
  public.redeliver_webhook (uuid),
  private.redeliver_webhook (uuid),
  public.redeliver_webhooks (uuid, text),
  private.redeliver_webhooks (uuid, text),
  public.webhook_deliveries (uuid, text, uuid, integer),
  private.webhook_deliveries (uuid, text, uuid, integer),
  public.webhook_attempts (uuid),
  private.webhook_attempts (uuid),
  public.webhook_events (bigint, text, integer),
  private.webhook_events (bigint, text, integer)
to authenticated;
