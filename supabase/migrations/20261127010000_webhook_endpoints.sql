-- Where a professional wants to be told of changes. While one of these rows exists, disabled ones
-- included, every change is recorded (webhook_events.sql).

create function private.webhook_event_types()
returns text[]
language sql
immutable
security invoker
set search_path = ''
as $$
  select array[
    'booking.created',
    'booking.confirmed',
    'booking.rescheduled',
    'booking.cancelled',
    'booking.completed',
    'booking.no_show',
    'booking.updated',
    'order.created',
    'order.confirmed',
    'order.fulfilled',
    'order.cancelled',
    'order.updated',
    'payment.succeeded',
    'payment.refunded',
    'payment.refund_reversed',
    'payment.refund_failed',
    'payment.disputed',
    'payment.dispute_reversed',
    'client.created',
    'client.updated',
    'client.deleted',
    'product.created',
    'product.updated',
    'product.deleted',
    'product.low_stock',
    'product.out_of_stock',
    'service.created',
    'service.updated',
    'service.deleted',
    'mail.undeliverable',
    'webhook.test'
  ];
$$;

comment on function private.webhook_event_types is 'Every type of event there is.';

create function private.webhook_filters(p_type text)
returns text[]
language sql
immutable
security invoker
set search_path = ''
as $$
  select array['*', split_part(p_type, '.', 1) || '.*', p_type];
$$;

comment on function private.webhook_filters is
  'What an endpoint may list to get events of a type: *, <object>.*, the type itself.';

create function private.webhook_filters_are_known(p_filters text[])
returns boolean
language sql
immutable
security invoker
set search_path = ''
as $$
  select p_filters <@ array(
    select unnest(private.webhook_filters(type))
    from unnest(private.webhook_event_types()) as type
  );
$$;

comment on function private.webhook_filters_are_known is
  'Whether each filter is *, <object>.* or a type of event.';

create table private.webhook_endpoints (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  -- Which hosts are allowed is checked by the edge function, on save and before every try.
  url text not null
    constraint webhook_endpoints_url_is_a_web_address
      check (url ~ '^https?://[^\s]+$' and char_length(url) <= 2048),
  events text[] not null
    constraint webhook_endpoints_events_are_1_to_50_known_filters
      check (
        cardinality(events) between 1 and 50
        and array_ndims(events) = 1
        and private.webhook_filters_are_known(events)
      ),
  description text
    constraint webhook_endpoints_description_has_at_most_500_characters
      check (char_length(description) <= 500),
  enabled boolean not null default true,
  disabled_reason text
    constraint webhook_endpoints_disabled_reason_is_known
      check (disabled_reason in ('owner', 'gone', 'failing')),
  secret text not null,
  -- The first failed try since the last success, and how many there were.
  failing_since timestamptz,
  failed_tries integer not null default 0,
  -- How many of the last tries in a row took a second or more; no further than three.
  slow_tries smallint not null default 0
    constraint webhook_endpoints_slow_tries_are_0_to_3 check (slow_tries between 0 and 3),
  constraint webhook_endpoints_professional_id_id_key unique (professional_id, id),
  constraint webhook_endpoints_have_a_reason_when_disabled
    check (enabled = (disabled_reason is null))
);

-- Secrets before a rotation: they sign beside the new one until they expire.
create table private.webhook_previous_secrets (
  professional_id uuid not null,
  endpoint_id uuid not null,
  secret text not null,
  expires_at timestamptz not null,
  primary key (professional_id, endpoint_id, secret),
  constraint webhook_previous_secrets_professional_id_endpoint_id_fkey
    foreign key (professional_id, endpoint_id)
    references private.webhook_endpoints (professional_id, id) on delete cascade
);

-- Of two random UUIDs, not of pgcrypto: `rules` may not call extensions.
create function private.new_webhook_secret()
returns text
language sql
volatile
security invoker
set search_path = ''
as $$
  select 'whsec_' || encode(
    sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'
  );
$$;

comment on function private.new_webhook_secret is
  'A signing secret of Standard Webhooks: whsec_ and 32 bytes in base64, made of 244 random bits.';

create function private.webhook_secrets(p_endpoint private.webhook_endpoints)
returns text[]
language sql
stable
security invoker
set search_path = ''
as $$
  select array_prepend(
    p_endpoint.secret,
    array(
      select s.secret
      from private.webhook_previous_secrets s
      where s.professional_id = p_endpoint.professional_id
        and s.endpoint_id = p_endpoint.id
        and s.expires_at > now()
      order by s.expires_at desc
    )
  );
$$;

comment on function private.webhook_secrets is
  'Secrets that sign now: the current one, then those before it that have not expired.';

alter table private.webhook_endpoints enable row level security;

grant select, insert, update, delete on private.webhook_endpoints to rules;

create policy webhook_endpoints_all_rules on private.webhook_endpoints
  for all to rules
  using (true)
  with check (true);

alter table private.webhook_previous_secrets enable row level security;

grant select, insert on private.webhook_previous_secrets to rules;

create policy webhook_previous_secrets_all_rules on private.webhook_previous_secrets
  for all to rules
  using (true)
  with check (true);

comment on table private.webhook_endpoints is
  'Addresses that events are delivered to, with their secrets, in the clear because they sign. At most ten a professional.';

comment on table private.webhook_previous_secrets is
  'Secrets that were rotated away and may still sign. At most ten unexpired ones an endpoint.';
