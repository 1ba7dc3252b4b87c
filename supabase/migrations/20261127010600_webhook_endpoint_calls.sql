-- RPCs behind `/functions/v1/webhooks/endpoints`, called with the professional's own token. The
-- edge function checks where an address leads before it calls; who calls these directly gets the
-- check at every try.

create function private.webhook_endpoint_json(p_endpoint private.webhook_endpoints)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'id', p_endpoint.id,
    'url', p_endpoint.url,
    'events', p_endpoint.events,
    'description', p_endpoint.description,
    'enabled', p_endpoint.enabled,
    'disabled_reason', p_endpoint.disabled_reason,
    'created_at', private.timestamp_text(p_endpoint.created_at)
  );
$$;

comment on function private.webhook_endpoint_json is 'An endpoint as the API shows it, never its secret.';

create function private.find_webhook_endpoint(p_endpoint_id uuid)
returns private.webhook_endpoints
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_endpoint private.webhook_endpoints;
begin
  select * into v_endpoint
  from private.webhook_endpoints
  where professional_id = private.caller_professional_id() and id = p_endpoint_id;

  if not found then
    perform private.raise_not_found('webhook endpoint');
  end if;
  return v_endpoint;
end;
$$;

comment on function private.find_webhook_endpoint is
  'An endpoint of the caller; 404 PGRST301 for any other, there or not.';

-- Before the constraints see them: the error of a constraint shows the row, and with it the secret.
create function private.invalid_webhook_fields(p_fields jsonb)
returns text[]
language sql
immutable
security invoker
set search_path = ''
as $$
  select array_agg(left(field.key, 100) order by field.key)
  from jsonb_each(p_fields) as field
  cross join lateral (
    select jsonb_typeof(field.value) as type, field.value #>> '{}' as text
  ) as given
  where (
    case field.key
      when 'url' then
        given.type = 'string'
          and char_length(given.text) <= 2048
          and given.text ~ '^https?://[^\s]+$'
      when 'events' then
        case
          when given.type = 'array' and jsonb_array_length(field.value) between 1 and 50 then
            private.webhook_filters_are_known(array(select jsonb_array_elements_text(field.value)))
        end
      when 'description' then
        given.type = 'null' or (given.type = 'string' and char_length(given.text) <= 500)
      when 'enabled' then given.type = 'boolean'
    end
  ) is not true;
$$;

comment on function private.invalid_webhook_fields is
  'Names of the fields of an endpoint that have the wrong type or size, or are not known; null when there is none.';

-- Definer, like all that follow: nobody has rights on the table.
create function private.create_webhook_endpoint(
  p_url text,
  p_events text[],
  p_description text,
  p_enabled boolean
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_endpoint private.webhook_endpoints;
begin
  perform private.require_person();
  perform private.check_arguments(variadic private.invalid_webhook_fields(jsonb_build_object(
    'url', p_url, 'events', p_events, 'description', p_description, 'enabled', p_enabled
  )));
  perform private.lock_professional(v_professional_id);

  if (
    select count(*) >= 10 from private.webhook_endpoints where professional_id = v_professional_id
  ) then
    perform private.raise_error(422, 'too_many_endpoints', 'There are ten endpoints already.');
  end if;

  insert into private.webhook_endpoints (
    professional_id, url, events, description, enabled, disabled_reason, secret
  )
  values (
    v_professional_id,
    p_url,
    p_events,
    p_description,
    p_enabled,
    case when not p_enabled then 'owner' end,
    private.new_webhook_secret()
  )
  returning * into v_endpoint;

  return private.webhook_endpoint_json(v_endpoint)
    || jsonb_build_object('secret', v_endpoint.secret);
end;
$$;

create function private.webhook_endpoints()
returns jsonb
language sql
stable
security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'data',
    coalesce(jsonb_agg(private.webhook_endpoint_json(e) order by e.created_at, e.id), '[]'),
    'next_cursor',
    null
  )
  from private.webhook_endpoints e
  where e.professional_id = private.caller_professional_id();
$$;

create function private.webhook_endpoint(p_endpoint_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_endpoint_id is null then 'endpoint_id' end);
  return private.webhook_endpoint_json(private.find_webhook_endpoint(p_endpoint_id));
end;
$$;

create function private.update_webhook_endpoint(p_endpoint_id uuid, p_changes jsonb)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_endpoint private.webhook_endpoints;
begin
  perform private.check_arguments(
    case when p_endpoint_id is null then 'endpoint_id' end,
    case when jsonb_typeof(p_changes) is distinct from 'object' then 'changes' end
  );
  perform private.check_arguments(variadic private.invalid_webhook_fields(p_changes));
  perform private.lock_professional(private.caller_professional_id());
  v_endpoint := private.find_webhook_endpoint(p_endpoint_id);

  if p_changes @> '{"enabled": false}' and v_endpoint.enabled then
    perform private.disable_webhook_endpoint(p_endpoint_id, 'owner');
  elsif p_changes @> '{"enabled": true}' and not v_endpoint.enabled then
    update private.webhook_endpoints
    set enabled = true, disabled_reason = null, failing_since = null, failed_tries = 0
    where id = p_endpoint_id;
  end if;

  update private.webhook_endpoints
  set
    url = case when p_changes ? 'url' then p_changes ->> 'url' else url end,
    events = case
      when p_changes ? 'events' then array(select jsonb_array_elements_text(p_changes -> 'events'))
      else events
    end,
    description = case
      when p_changes ? 'description' then p_changes ->> 'description'
      else description
    end
  where id = p_endpoint_id
  returning * into v_endpoint;

  return private.webhook_endpoint_json(v_endpoint);
end;
$$;

create function private.delete_webhook_endpoint(p_endpoint_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_endpoint_id is null then 'endpoint_id' end);
  perform private.lock_professional(private.caller_professional_id());
  perform private.find_webhook_endpoint(p_endpoint_id);
  delete from private.webhook_endpoints where id = p_endpoint_id;
end;
$$;

create function private.rotate_webhook_secret(p_endpoint_id uuid, p_grace integer)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_endpoint private.webhook_endpoints;
begin
  perform private.require_person();
  perform private.check_arguments(
    case when p_endpoint_id is null then 'endpoint_id' end,
    case when (p_grace between 0 and 86400) is not true then 'grace' end
  );
  perform private.lock_professional(private.caller_professional_id());
  v_endpoint := private.find_webhook_endpoint(p_endpoint_id);

  if p_grace > 0 then
    -- The current one is among them; a secret that was promised to sign is not dropped for another.
    if cardinality(private.webhook_secrets(v_endpoint)) > 10 then
      perform private.raise_error(
        422,
        'too_many_secrets',
        'Ten secrets from before still sign.',
        p_hint => 'Wait until one has expired, or rotate with a grace of 0.'
      );
    end if;
    insert into private.webhook_previous_secrets (
      professional_id, endpoint_id, secret, expires_at
    )
    values (
      v_endpoint.professional_id,
      v_endpoint.id,
      v_endpoint.secret,
      now() + make_interval(secs => p_grace)
    );
  end if;

  update private.webhook_endpoints
  set secret = private.new_webhook_secret()
  where id = p_endpoint_id
  returning * into v_endpoint;

  return private.webhook_endpoint_json(v_endpoint)
    || jsonb_build_object('secret', v_endpoint.secret);
end;
$$;

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
  'Adds an address that events are delivered to; events are *, <object>.* or types. Returns the endpoint with its secret, which is not shown again. Errors: 403 person_required; 422 validation_failed with the fields; 422 too_many_endpoints beyond ten.';

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
  'Gives an endpoint a new secret and returns it. The old one signs beside it for grace seconds, at most a day; 0 ends it at once. Those before it sign until their own time is over. Errors: 403 person_required; 404 PGRST301; 422 validation_failed; 422 too_many_secrets beyond ten old ones.';

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

select private.hand_over(
  'create_webhook_endpoint',
  'webhook_endpoints',
  'webhook_endpoint',
  'update_webhook_endpoint',
  'delete_webhook_endpoint',
  'rotate_webhook_secret'
);
