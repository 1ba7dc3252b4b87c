-- The one error body of the API: {code, message, details, hint} with its HTTP status. The REST
-- server turns SQLSTATE `PGRST` with two JSON texts into exactly that answer.

create function private.raise_error(
  p_status integer,
  p_code text,
  p_message text,
  p_details text default null,
  p_hint text default null,
  p_headers jsonb default '{}'
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  raise sqlstate 'PGRST' using
    message = json_build_object(
      'code', p_code,
      'message', p_message,
      'details', p_details,
      'hint', p_hint
    )::text,
    detail = json_build_object('status', p_status, 'headers', p_headers)::text;
end;
$$;

comment on function private.raise_error is
  'Ends the request with an HTTP status and the error body. p_details is text, JSON text where it carries data; header values are strings.';

-- A row that does not exist and a row of somebody else must look the same: one code, one status.
create function private.raise_not_found(p_what text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.raise_error(404, 'PGRST301', 'No such ' || p_what || '.');
$$;

comment on function private.raise_not_found is
  'Specification, Errors: record not found is code PGRST301. For rows that are missing and rows of others alike.';

-- For every argument of every RPC, before anything is looked up: what only a constraint would
-- refuse could otherwise tell something of rows that the caller may not see.
create function private.check_arguments(variadic p_invalid text[])
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_fields constant text[] := array_remove(p_invalid, null);
begin
  if cardinality(v_fields) > 0 then
    perform private.raise_error(
      422,
      'validation_failed',
      'An argument is missing or not valid.',
      json_build_object('fields', v_fields)::text
    );
  end if;
end;
$$;

comment on function private.check_arguments is
  '422 validation_failed with {"fields"} naming the arguments that are not null here: case when p_id is null then ''id'' end, …';

-- Not 503: the platform's edge repeats those by itself, up to five times.
create function private.raise_busy()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(
    429,
    'busy',
    'Others are at work here.',
    json_build_object('retry_after', 1)::text,
    'Try again in a moment.',
    '{"Retry-After": "1"}'
  );
end;
$$;

comment on function private.raise_busy is
  '429 busy with Retry-After: what is asked for is allowed, and there is no place or lock for it now.';

create function private.raise_invalid_transition(
  p_old text,
  p_new text,
  p_hint text default null
)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.raise_error(
    409,
    'invalid_transition',
    'This change of state is not possible.',
    json_build_object('from', p_old, 'to', p_new)::text,
    p_hint
  );
$$;

comment on function private.raise_invalid_transition is
  '409 invalid_transition with {"from", "to"} in details, for bookings and orders.';
