-- RPC of the function that answers calendar programs: what a feed shows, as one JSON value, since a
-- list of rows would be cut at the API's longest answer.

-- Holds are nobody's news, and what was cancelled takes no time. PL/pgSQL keeps the plan, which for
-- some thousand rows takes no longer to run than to make.
create function private.feed_entries(
  p_professional_id uuid,
  p_is_full boolean,
  p_from timestamptz,
  p_until timestamptz
)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    with shown as (
      select *
      from public.bookings b
      where b.professional_id = p_professional_id
        -- By the index on starts_at; a booking lasts at most 366 days.
        and b.starts_at > p_from - interval '367 days'
        and b.starts_at < p_until
        and b.ends_at > p_from
        and b.status <> 'cancelled'
        and b.expires_at is null
      -- The function has so much time to write them: then those around now.
      order by abs(extract(epoch from b.starts_at - now())), b.id
      limit 5000
    )
    select coalesce(jsonb_agg(
      jsonb_build_object(
        'id', b.id,
        'version', b.version,
        'updated_at', private.timestamp_text(b.updated_at),
        'starts_at', private.timestamp_text(b.starts_at),
        'ends_at', private.timestamp_text(b.ends_at)
      ) || case
        when p_is_full then jsonb_build_object(
          'status', b.status,
          'service_name', b.service_name,
          'location', s.location,
          'client_name', c.name,
          'client_email', c.email,
          'client_phone', c.phone,
          'notes', case
            when char_length(b.notes) > 1000 then left(b.notes, 999) || '…' else b.notes
          end
        )
        else '{}'
      end
      order by b.starts_at, b.id
    ), '[]')
    from shown b
    left join public.clients c on c.professional_id = b.professional_id and c.id = b.client_id
    left join public.services s on s.professional_id = b.professional_id and s.id = b.service_id
  );
end;
$$;

comment on function private.feed_entries is
  'Bookings and blocked time that touch a period, by their start, at most 5000; but for full detail nothing except when they are.';

-- The date, because the period moves with it though nothing was changed.
create function private.feed_etag(p_today date, p_shown jsonb)
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select left(
    encode(
      sha256(convert_to(to_char(p_today, 'YYYY-MM-DD') || p_shown::text, 'UTF8')), 'hex'
    ),
    32
  );
$$;

comment on function private.feed_etag is
  'The entity tag of a feed: of all that it shows, and of the professional''s date.';

-- Definer: our servers have no rights on the feeds. Returns what is wrong instead of raising it,
-- because a failure would undo the count.
create function private.calendar_feed(
  p_token_hash text,
  p_ip text,
  p_ip_limit integer,
  p_etags text[]
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_feed private.calendar_feeds;
  v_profile public.profiles;
  v_today date;
  v_retry_after integer;
  v_shown jsonb;
  v_etag text;
begin
  perform private.check_arguments(
    case when (p_token_hash ~ '^[0-9a-f]{64}$') is not true then 'token_hash' end,
    case when char_length(p_ip) > 100 then 'ip' end,
    case when (p_ip_limit > 0) is not true then 'ip_limit' end,
    case when (cardinality(p_etags) <= 20) is not true then 'etags' end
  );
  select * into v_feed from private.calendar_feeds where token_hash = p_token_hash;

  -- Each feed apart: large providers read those of all their users from a few addresses. What opens
  -- nothing is counted together.
  v_retry_after := private.count_request(
    concat_ws(' ', 'feed', v_feed.id, private.network_of(p_ip), p_ip_limit), p_ip_limit, '1 hour'
  );
  if v_retry_after > 0 then
    return jsonb_build_object('retry_after', v_retry_after);
  elsif v_feed.id is null then
    return null;
  end if;

  select * into v_profile from public.profiles where id = v_feed.professional_id;
  v_today := now() at time zone v_profile.time_zone;
  v_shown := jsonb_build_object(
    'name', v_feed.name,
    'detail', v_feed.detail,
    'language', v_profile.language,
    'time_zone', v_profile.time_zone,
    'entries', private.feed_entries(
      v_feed.professional_id,
      v_feed.detail = 'full',
      (v_today - 90)::timestamp at time zone v_profile.time_zone,
      (v_today + 401)::timestamp at time zone v_profile.time_zone
    )
  );
  v_etag := private.feed_etag(v_today, v_shown);

  return jsonb_build_object(
    'retry_after', null,
    'etag', v_etag,
    'feed', case when v_etag = any (p_etags) or '*' = any (p_etags) then null else v_shown end
  );
end;
$$;

create function public.calendar_feed(token_hash text, ip text, ip_limit integer, etags text[])
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.calendar_feed($1, $2, $3, $4);
$$;

comment on function public.calendar_feed is
  'Server only. What a calendar feed shows: bookings and blocked time from 90 days back to 400 ahead, by the professional''s dates. {retry_after, etag, feed {name, detail, language, time_zone, entries}}; feed is null when one of etags is the current one. Null for an unknown token, {retry_after} when the limit of the network is reached. Errors: 422 validation_failed {"fields"}.';

grant execute on function
  public.calendar_feed (text, text, integer, text[]),
  private.calendar_feed (text, text, integer, text[])
to service_role;

select private.hand_over('calendar_feed');
