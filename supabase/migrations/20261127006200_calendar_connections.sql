-- Google calendars that professionals have connected: bookings go out to them, and what else is in
-- them blocks starts. The token comes here sealed by the edge function, which alone has the key.

create table private.calendar_connections (
  -- Also the source of its busy times.
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  professional_id uuid not null unique references public.profiles (id) on delete cascade,
  sealed_token text not null
    constraint calendar_connections_sealed_token_has_1_to_8000_characters
      check (char_length(sealed_token) between 1 and 8000),
  push boolean not null default true,
  busy boolean not null default true,
  status text not null default 'active'
    constraint calendar_connections_status_is_known check (status in ('active', 'revoked')),
  -- Of the last call that failed; null since one that did not.
  error text
    constraint calendar_connections_error_is_a_code check (error ~ '^[a-z0-9_]{1,50}$'),
  -- Since the last run that did not.
  failing_since timestamptz,
  told_at timestamptz,
  last_synced_at timestamptz,
  -- When busy times are to be read again.
  busy_due_at timestamptz not null default now(),
  -- Google wants no call before, and how often in a row it said so.
  paused_until timestamptz not null default '-infinity',
  pauses integer not null default 0,
  -- Whose turn it is: the one that waits longest.
  claimed_at timestamptz not null default '-infinity',
  -- The run that is under way; finishing needs it.
  claim_token uuid,
  leased_until timestamptz not null default '-infinity',
  constraint calendar_connections_professional_id_id_key unique (professional_id, id)
);

create function private.calendar_connection_json(p_connection private.calendar_connections)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return jsonb_build_object(
    'status', coalesce(p_connection.status, 'none'),
    'push', p_connection.push,
    'busy', p_connection.busy,
    'error', p_connection.error,
    'last_synced_at', private.timestamp_text(p_connection.last_synced_at),
    'created_at', private.timestamp_text(p_connection.created_at),
    'waiting', (
      select count(*)
      from private.calendar_pushes
      where connection_id = p_connection.id and due_at is not null
    ),
    'refused', (
      select count(*)
      from private.calendar_pushes
      where connection_id = p_connection.id and error is not null and due_at is null
    )
  );
end;
$$;

comment on function private.calendar_connection_json is
  'A connection as the API shows it, never its token; its status is none where there is none.';

-- Definer, like all that follow: nobody has rights on the table. The edge function calls this one
-- before it asks Google about a token, and store_google_connection() after it has.
create function private.begin_google_connection()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
begin
  perform private.require_person();
  perform private.count_busy_calendar_call(
    format('Google connections of %s', v_professional_id), 20
  );
  return jsonb_build_object('professional_id', v_professional_id);
end;
$$;

-- A second token takes the place of the first, which is not revoked: with Google that would end
-- both. Entries stay known, and are healed if it is another account's calendar.
create function private.store_google_connection(p_professional_id uuid, p_sealed_token text)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_connection private.calendar_connections;
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when (char_length(p_sealed_token) between 1 and 8000) is not true then 'sealed_token' end
  );
  perform private.lock_professional(p_professional_id);

  if not exists (select from public.profiles where id = p_professional_id) then
    perform private.raise_not_found('profile');
  end if;

  insert into private.calendar_connections as c (professional_id, sealed_token)
  values (p_professional_id, p_sealed_token)
  on conflict (professional_id) do update
  set
    sealed_token = excluded.sealed_token,
    status = 'active',
    error = null,
    failing_since = null,
    busy_due_at = now(),
    paused_until = '-infinity',
    pauses = 0,
    claim_token = null,
    leased_until = '-infinity'
  returning * into v_connection;

  perform private.queue_all_pushes(v_connection);
  return private.calendar_connection_json(v_connection);
end;
$$;

create function private.google_connection()
returns jsonb
language sql
stable
security definer
set search_path = ''
as $$
  select private.calendar_connection_json(c)
  from (select private.caller_professional_id() as id) as caller
  left join private.calendar_connections c on c.professional_id = caller.id;
$$;

create function private.update_google_connection(p_push boolean, p_busy boolean)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_before private.calendar_connections;
  v_connection private.calendar_connections;
begin
  perform private.lock_professional(v_professional_id);
  select * into v_before
  from private.calendar_connections
  where professional_id = v_professional_id
  for no key update;

  if not found then
    perform private.raise_not_found('Google calendar');
  end if;

  -- A run that is under way may still do what is off from here on: it loses its claim.
  update private.calendar_connections
  set
    push = coalesce(p_push, push),
    busy = coalesce(p_busy, busy),
    busy_due_at = case when p_busy and not busy then now() else busy_due_at end,
    failing_since = case
      when coalesce(p_push, push) or coalesce(p_busy, busy) then failing_since
    end,
    claim_token = null,
    leased_until = '-infinity'
  where id = v_before.id
  returning * into v_connection;

  if v_connection.push and not v_before.push then
    perform private.queue_all_pushes(v_connection);
  end if;
  if not v_connection.busy then
    delete from private.busy_times where source_id = v_connection.id;
  end if;
  return private.calendar_connection_json(v_connection);
end;
$$;

create function private.begin_google_disconnection()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
begin
  perform private.require_person();
  if not exists (
    select from private.calendar_connections where professional_id = v_professional_id
  ) then
    perform private.raise_not_found('Google calendar');
  end if;
  return jsonb_build_object('professional_id', v_professional_id);
end;
$$;

-- A run that is under way loses its claim, and none begins for a minute: it would find the access
-- gone and mail so, or put another sealed token in the place of the one that is to be deleted.
create function private.google_grant(p_professional_id uuid)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_connection private.calendar_connections;
begin
  perform private.check_arguments(case when p_professional_id is null then 'professional_id' end);

  update private.calendar_connections
  set claim_token = null, leased_until = now() + interval '1 minute'
  where professional_id = p_professional_id
  returning * into v_connection;

  if found then
    return jsonb_build_object(
      'connection_id', v_connection.id, 'sealed_token', v_connection.sealed_token
    );
  end if;
  return null;
end;
$$;

-- By its token, too: one that was connected anew meanwhile stays.
create function private.delete_google_connection(p_connection_id uuid, p_sealed_token text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id uuid;
begin
  perform private.check_arguments(
    case when p_connection_id is null then 'connection_id' end,
    case when p_sealed_token is null then 'sealed_token' end
  );
  select professional_id into v_professional_id
  from private.calendar_connections
  where id = p_connection_id;

  if found then
    perform private.lock_professional(v_professional_id);
    delete from private.calendar_connections
    where id = p_connection_id and sealed_token = p_sealed_token;
  end if;
end;
$$;

create function public.begin_google_connection()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.begin_google_connection();
$$;

comment on function public.begin_google_connection is
  'What POST /functions/v1/calendar/google asks before it shows a token to Google. {professional_id}. Errors: 403 person_required; 429 rate_limit_exceeded after twenty in an hour.';

create function public.store_google_connection(professional_id uuid, sealed_token text)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.store_google_connection($1, $2);
$$;

comment on function public.store_google_connection is
  'Server only. Connects a Google calendar, or gives a connected one another token, and queues all that is to come. The connection as google_connection() shows it. Errors: 404 PGRST301; 422 validation_failed {"fields"}; 429 busy.';

create function public.google_connection()
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.google_connection();
$$;

comment on function public.google_connection is
  'Your connection with Google Calendar: {status, push, busy, error, last_synced_at, created_at, waiting, refused}. status is none, active or revoked; waiting and refused are how many bookings have still to reach the calendar, and how many it did not take.';

create function public.update_google_connection(
  push boolean default null,
  busy boolean default null
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.update_google_connection($1, $2);
$$;

comment on function public.update_google_connection is
  'Switches on or off that bookings go to your Google calendar (push) and that what is in it blocks starts (busy); what is left out stays. The connection as it is now. Errors: 404 PGRST301; 429 busy.';

create function public.begin_google_disconnection()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.begin_google_disconnection();
$$;

comment on function public.begin_google_disconnection is
  'What DELETE /functions/v1/calendar/google asks before it revokes anything. {professional_id}. Errors: 403 person_required; 404 PGRST301.';

create function public.google_grant(professional_id uuid)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.google_grant($1);
$$;

comment on function public.google_grant is
  'Server only. The sealed token of a professional''s Google calendar, to be revoked: {connection_id, sealed_token}, or null. No run ends or begins for a minute. Errors: 422 validation_failed {"fields"}.';

create function public.delete_google_connection(connection_id uuid, sealed_token text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.delete_google_connection($1, $2);
$$;

comment on function public.delete_google_connection is
  'Server only. Forgets a Google calendar with what it blocked, unless it has another token by now. Errors: 422 validation_failed {"fields"}; 429 busy.';

create trigger calendar_connections_forget_busy_times
  after delete on private.calendar_connections
  for each row execute function private.forget_busy_times();

alter table private.calendar_connections enable row level security;

grant select, insert, update, delete on private.calendar_connections to rules;

grant execute on function
  public.begin_google_connection (),
  public.google_connection (),
  public.update_google_connection (boolean, boolean),
  public.begin_google_disconnection (),
  private.begin_google_connection (),
  private.google_connection (),
  private.update_google_connection (boolean, boolean),
  private.begin_google_disconnection ()
to authenticated;

grant execute on function
  public.store_google_connection (uuid, text),
  public.google_grant (uuid),
  public.delete_google_connection (uuid, text),
  private.store_google_connection (uuid, text),
  private.google_grant (uuid),
  private.delete_google_connection (uuid, text)
to service_role;

create policy calendar_connections_all_rules on private.calendar_connections
  for all to rules
  using (true)
  with check (true);

comment on table private.calendar_connections is
  'Google calendars, one a professional at most. Only the edge function has the key to their tokens.';

select private.hand_over(
  'begin_google_connection',
  'store_google_connection',
  'google_connection',
  'update_google_connection',
  'begin_google_disconnection',
  'google_grant',
  'delete_google_connection'
);
