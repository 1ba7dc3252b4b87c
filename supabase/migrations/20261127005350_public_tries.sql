-- How often the public may book and order at one professional, and how often it may try. A call can
-- always be made to fail after it has done its work (a cast in `select` is enough), and what it did
-- is rolled back: by its timing it would tell for nothing who is a client. So tries are counted
-- where they cannot be taken back, on the counter's own connection, before the address is looked
-- up.

-- Definer, and stays with `postgres`: its callers may not read the counter's settings. The public
-- is everybody but servers; a portal client is asked about too when an address is typed.
create function private.count_public_try(p_professional_id uuid, p_email text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_per_address integer;
  v_per_network integer;
  v_seconds integer[];
begin
  if private.caller_is_server() then
    return;
  end if;
  select public_tries_per_address_hour, public_tries_per_network_hour
  into v_per_address, v_per_network
  from private.settings;

  v_seconds := private.seconds_to_wait(
    array[
      format(
        'try %s %s',
        encode(private.portal_address_digest(p_professional_id, p_email), 'base64'),
        v_per_address
      ),
      format('try %s %s %s', p_professional_id, private.caller_network(), v_per_network)
    ],
    array[v_per_address, v_per_network],
    '1 hour'
  );
  if v_seconds[1] > 0 then
    perform private.raise_rate_limited(
      v_seconds[1], 'At most ' || v_per_address || ' tries an hour for an address.'
    );
  elsif v_seconds[2] > 0 then
    perform private.raise_rate_limited(
      v_seconds[2], 'At most ' || v_per_network || ' tries an hour from one network.'
    );
  end if;
end;
$$;

comment on function private.count_public_try is
  'Counts a booking or order that the public tries, per address and per network at a professional: 429 rate_limit_exceeded with Retry-After. Call it before the address is looked up.';

-- What was done counts in its own transaction: with it, or not at all.
create function private.count_public_write(p_professional_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_per_network integer;
  v_seconds integer;
begin
  if private.caller_is_server() then
    return;
  end if;
  select public_writes_per_network_hour into v_per_network from private.settings;

  v_seconds := private.count_request(
    format('write %s %s %s', p_professional_id, private.caller_network(), v_per_network),
    v_per_network,
    '1 hour'
  );
  if v_seconds > 0 then
    perform private.raise_rate_limited(
      v_seconds, 'At most ' || v_per_network || ' bookings and orders an hour from one network.'
    );
  end if;
end;
$$;

comment on function private.count_public_write is
  'Counts a booking or order that the public makes, per network at a professional: 429 rate_limit_exceeded with Retry-After. Call it under the write lock, just before the row.';
