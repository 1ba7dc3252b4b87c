-- A professional's bookings for calendar programs. These send no token, so that the address of a
-- feed is the key to it: it is shown once, and only a hash of what is secret in it is kept.

create table private.calendar_feeds (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  name text not null
    constraint calendar_feeds_name_has_1_to_100_characters
      check (char_length(name) between 1 and 100),
  detail text not null
    constraint calendar_feeds_detail_is_known check (detail in ('full', 'busy')),
  token_hash text not null
    constraint calendar_feeds_token_hash_is_hexadecimal check (token_hash ~ '^[0-9a-f]{64}$'),
  constraint calendar_feeds_token_hash_key unique (token_hash)
);

create index calendar_feeds_professional_id_created_at_idx
  on private.calendar_feeds (professional_id, created_at);

-- Of two random UUIDs, not of pgcrypto: `rules` may not call extensions.
create function private.new_feed_token()
returns text
language sql
volatile
security invoker
set search_path = ''
as $$
  select rtrim(
    translate(
      encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'),
      '+/',
      '-_'
    ),
    '='
  );
$$;

comment on function private.new_feed_token is
  'What is secret in the address of a feed: 32 bytes in base64url, made of 244 random bits.';

-- Definer, like all that follow: nobody has rights on the table.
create function private.create_calendar_feed(p_name text, p_detail text)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_name constant text := private.trim_invisible(p_name);
  v_token constant text := private.new_feed_token();
  v_id uuid;
begin
  perform private.require_person();
  perform private.check_arguments(
    case when (char_length(v_name) between 1 and 100) is not true then 'name' end,
    case when (p_detail in ('full', 'busy')) is not true then 'detail' end
  );
  perform private.lock_professional(v_professional_id);

  if (
    select count(*) >= 5 from private.calendar_feeds where professional_id = v_professional_id
  ) then
    perform private.raise_error(422, 'too_many_feeds', 'There are five feeds already.');
  end if;

  insert into private.calendar_feeds (professional_id, name, detail, token_hash)
  values (v_professional_id, v_name, p_detail, encode(sha256(v_token::bytea), 'hex'))
  returning id into v_id;

  return jsonb_build_object(
    'id', v_id, 'path', '/functions/v1/calendar/feed/' || v_token || '.ics'
  );
end;
$$;

create function private.calendar_feeds()
returns jsonb
language sql
stable
security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'data',
    coalesce(
      jsonb_agg(
        jsonb_build_object(
          'id', f.id,
          'name', f.name,
          'detail', f.detail,
          'created_at', private.timestamp_text(f.created_at)
        )
        order by f.created_at, f.id
      ),
      '[]'
    ),
    'next_cursor',
    null
  )
  from private.calendar_feeds f
  where f.professional_id = private.caller_professional_id();
$$;

create function private.delete_calendar_feed(p_feed_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_feed_id is null then 'feed_id' end);

  delete from private.calendar_feeds
  where professional_id = private.caller_professional_id() and id = p_feed_id;

  if not found then
    perform private.raise_not_found('calendar feed');
  end if;
end;
$$;

create function public.create_calendar_feed(name text, detail text)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.create_calendar_feed($1, $2);
$$;

comment on function public.create_calendar_feed is
  'Makes a feed of your bookings for calendar programs; detail is full (service, client, contact, notes) or busy (only when). Returns {id, path}: the address is the API''s with path behind it, opens the feed to whoever knows it, and is not shown again. Errors: 403 person_required; 422 validation_failed {"fields"}; 422 too_many_feeds beyond five; 429 busy.';

create function public.calendar_feeds()
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.calendar_feeds();
$$;

comment on function public.calendar_feeds is
  'Your calendar feeds, oldest first, without their addresses: {"data": [{id, name, detail, created_at}], "next_cursor": null}.';

create function public.delete_calendar_feed(feed_id uuid)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.delete_calendar_feed($1);
$$;

comment on function public.delete_calendar_feed is
  'Ends a calendar feed of yours: its address opens nothing from then on. Errors: 404 PGRST301; 422 validation_failed {"fields"}.';

alter table private.calendar_feeds enable row level security;

grant select, insert, delete on private.calendar_feeds to rules;

grant execute on function
  public.create_calendar_feed (text, text),
  public.calendar_feeds (),
  public.delete_calendar_feed (uuid),
  private.create_calendar_feed (text, text),
  private.calendar_feeds (),
  private.delete_calendar_feed (uuid)
to authenticated;

create policy calendar_feeds_all_rules on private.calendar_feeds
  for all to rules
  using (true)
  with check (true);

comment on table private.calendar_feeds is
  'Feeds for calendar programs, at most five a professional. The hash is SHA-256 of the token in the address: random enough to need no salt.';

select private.hand_over('create_calendar_feed', 'calendar_feeds', 'delete_calendar_feed');
