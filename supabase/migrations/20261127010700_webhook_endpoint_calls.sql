-- The names of the API for webhook_endpoint_rules.sql. Errors of all of them: 422 validation_failed
-- for an argument that is missing or not valid, 404 PGRST301 for an endpoint that is not there or not
-- yours.

create function public.create_webhook_endpoint(
  url text,
  events text[],
  description text default null,
  enabled boolean default true
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.create_webhook_endpoint($1, $2, $3, $4);
$$;

comment on function public.create_webhook_endpoint is
  'Adds an address that events are delivered to; events are *, <object>.* or types. Returns the endpoint with its secret, which is not shown again. Errors: 422 validation_failed with the fields; 422 too_many_endpoints beyond ten.';

create function public.webhook_endpoints()
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.webhook_endpoints();
$$;

comment on function public.webhook_endpoints is
  'Your endpoints, oldest first: {data: [{id, url, events, description, enabled, disabled_reason, created_at}], next_cursor: null}.';

create function public.webhook_endpoint(endpoint_id uuid)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.webhook_endpoint($1);
$$;

comment on function public.webhook_endpoint is
  'One of your endpoints. Errors: 404 PGRST301.';

create function public.update_webhook_endpoint(endpoint_id uuid, changes jsonb)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.update_webhook_endpoint($1, $2);
$$;

comment on function public.update_webhook_endpoint is
  'Changes url, events, description, enabled: those that changes has. Disabling cancels what is pending; enabling forgets why it was disabled. Errors: 404 PGRST301; 422 validation_failed with the fields.';

create function public.delete_webhook_endpoint(endpoint_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.delete_webhook_endpoint($1);
$$;

comment on function public.delete_webhook_endpoint is
  'Deletes an endpoint with its deliveries. Errors: 404 PGRST301.';

create function public.rotate_webhook_secret(endpoint_id uuid, grace integer default 86400)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.rotate_webhook_secret($1, $2);
$$;

comment on function public.rotate_webhook_secret is
  'Gives an endpoint a new secret and returns it. The old one signs beside it for grace seconds, at most a day; 0 ends it at once. Those before it sign until their own time is over. Errors: 404 PGRST301; 422 validation_failed; 422 too_many_secrets beyond ten old ones.';

grant execute on function
  public.create_webhook_endpoint (text, text[], text, boolean),
  private.create_webhook_endpoint (text, text[], text, boolean),
  public.webhook_endpoints (),
  private.webhook_endpoints (),
  public.webhook_endpoint (uuid),
  private.webhook_endpoint (uuid),
  public.update_webhook_endpoint (uuid, jsonb),
  private.update_webhook_endpoint (uuid, jsonb),
  public.delete_webhook_endpoint (uuid),
  private.delete_webhook_endpoint (uuid),
  public.rotate_webhook_secret (uuid, integer),
  private.rotate_webhook_secret (uuid, integer)
to authenticated;
