-- RPC of the dispatcher: take what is due. A claim is a lease: a dispatcher that dies leaves it to
-- the next one after a minute.
--
-- Fair by professional. Any number of dispatchers with 16 slots each may work at once, so what
-- counts is what is under way in all of them together (webhook_leases): four tries of a
-- professional, a quarter of a dispatcher's slots, and one at an endpoint that is slow.

-- In plpgsql, which keeps the plan; definer, so that the plan is one, whoever asks. Few rows, so
-- that the claim looks them up by their ids.
create function private.next_webhook_deliveries(p_max_count integer)
returns table (id uuid, professional_id uuid, next_attempt_at timestamptz, cost interval)
language plpgsql
stable
rows 16
security definer
set search_path = ''
as $$
begin
  return query
  with recursive endpoints as (
    -- From endpoint to endpoint along the index, however many deliveries wait at each.
    (
      select d.professional_id, d.endpoint_id
      from private.webhook_deliveries d
      where d.status = 'pending'
      order by d.professional_id, d.endpoint_id
      limit 1
    )
    union all
    select following.professional_id, following.endpoint_id
    from endpoints e
    cross join lateral (
      select d.professional_id, d.endpoint_id
      from private.webhook_deliveries d
      where d.status = 'pending'
        and (d.professional_id, d.endpoint_id) > (e.professional_id, e.endpoint_id)
      order by d.professional_id, d.endpoint_id
      limit 1
    ) as following
  ),
  at_endpoints as (
    select l.professional_id, l.endpoint_id, count(*) as under_way
    from private.webhook_leases l
    where l.ends_at > now()
    group by l.professional_id, l.endpoint_id
  ),
  of_professionals as (
    select a.professional_id, sum(a.under_way) as under_way
    from at_endpoints a
    group by a.professional_id
  ),
  due as (
    select
      d.id,
      e.professional_id,
      d.next_attempt_at,
      -- The first of every endpoint before the second of any.
      row_number() over (
        partition by e.professional_id
        order by coalesce(a.under_way, 0) + d.place, d.next_attempt_at
      ) as turn
    from endpoints e
    join private.webhook_endpoints w on w.id = e.endpoint_id
    left join at_endpoints a on a.endpoint_id = e.endpoint_id
    cross join lateral (
      select w_d.id, w_d.next_attempt_at, row_number() over (order by w_d.next_attempt_at) as place
      from private.webhook_deliveries w_d
      where w_d.professional_id = e.professional_id
        and w_d.endpoint_id = e.endpoint_id
        and w_d.status = 'pending'
        and w_d.next_attempt_at <= now()
      order by w_d.next_attempt_at
      limit greatest(
        case when w.slow_tries = 3 then 1 else 4 end - coalesce(a.under_way, 0), 0
      )
    ) as d
  )
  select due.id, due.professional_id, due.next_attempt_at, budget.cost
  from due
  join public.profiles p on p.id = due.professional_id
  join private.tiers t on t.name = p.tier
  left join of_professionals o on o.professional_id = due.professional_id
  left join private.webhook_budgets b on b.professional_id = due.professional_id
  cross join lateral (
    select
      interval '1 hour' / (10 * t.requests_per_minute) as cost,
      now() + interval '1 hour' - greatest(b.full_at, now()) as unspent
  ) as budget
  where due.turn <= 4 - coalesce(o.under_way, 0)
    and due.turn * budget.cost <= budget.unspent
  -- The first of every professional before the second of any.
  order by coalesce(o.under_way, 0) + due.turn, due.next_attempt_at
  limit p_max_count;
end;
$$;

comment on function private.next_webhook_deliveries is
  'Deliveries that may be tried now, in turn by professional, then by endpoint: at most four at a time a professional, one at an endpoint whose last three tries were slow, and an hour ten times the tier''s requests a minute. cost is what a try takes from that.';

create function private.webhooks_due()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- Asked many times a minute: one look at the end of an index, and mostly that is all.
  if not exists (
    select from private.webhook_deliveries where status = 'pending' and next_attempt_at <= now()
  ) then
    return false;
  end if;
  -- A dispatcher at work asks twice a second while it has a free slot, and then needs no other.
  if exists (select from private.webhook_leases where ends_at > now())
    and exists (
      select
      from private.dispatches
      where queue = 'webhooks' and last_at > now() - interval '1 second'
    )
  then
    return false;
  end if;
  return exists (select from private.next_webhook_deliveries(1));
end;
$$;

comment on function private.webhooks_due is
  'Whether a delivery may be tried now and no dispatcher is about to claim it.';

-- Definer: nobody has rights on the queue.
create function private.claim_webhook_deliveries(p_max_count integer)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_claimed jsonb;
begin
  perform private.check_arguments(
    case when (p_max_count between 1 and 1000) is not true then 'max_count' end
  );

  -- One claim at a time, so that what is under way is counted right.
  perform pg_advisory_xact_lock(7304, 0);

  insert into private.dispatches (queue) values ('webhooks')
  on conflict (queue) do update set last_at = now();

  -- One that is being finished is not waited for.
  delete from private.webhook_leases
  where id in (
    select id from private.webhook_leases where ends_at <= now() for update skip locked
  );

  with due as (
    select id, cost from private.next_webhook_deliveries(p_max_count)
  ),
  locked as (
    select l.id, due.cost
    from due
    cross join lateral (
      select d.id, d.status, d.next_attempt_at
      from private.webhook_deliveries d
      where d.id = due.id
      -- Looked up by its id alone: Postgres would rather look for it among all that is due.
      offset 0
      for update skip locked
    ) as l
    where l.status = 'pending' and l.next_attempt_at <= now()
  ),
  claimed as (
    update private.webhook_deliveries d
    set
      -- The tenth try was under way when its dispatcher died.
      status = case when d.attempts < 10 then 'pending' else 'failed' end,
      next_attempt_at = case when d.attempts < 10 then now() + interval '60 seconds' end,
      claim_token = case when d.attempts < 10 then gen_random_uuid() end,
      attempts = least(d.attempts + 1, 10)
    from locked
    where d.id = locked.id
    returning d.*, locked.cost
  ),
  started as (
    insert into private.webhook_attempts (id, professional_id, delivery_id)
    select claim_token, professional_id, id
    from claimed
    where claim_token is not null
  ),
  leased as (
    insert into private.webhook_leases (id, professional_id, endpoint_id, ends_at)
    select claim_token, professional_id, endpoint_id, next_attempt_at
    from claimed
    where claim_token is not null
  ),
  spent as (
    insert into private.webhook_budgets as b (professional_id, full_at)
    select professional_id, now() + sum(cost)
    from claimed
    where claim_token is not null
    group by professional_id
    on conflict (professional_id) do update
    set full_at = greatest(b.full_at, now()) + (excluded.full_at - now())
  )
  select jsonb_agg(jsonb_build_object(
    'delivery_id', c.id,
    'claim_token', c.claim_token,
    'event_id', c.event_id,
    'url', e.url,
    'secrets', private.webhook_secrets(e),
    'body', v.body
  ))
  into v_claimed
  from claimed c
  join private.webhook_endpoints e on e.id = c.endpoint_id
  join private.webhook_events v
    on v.professional_id = c.professional_id and v.id = c.event_id
  where c.claim_token is not null;

  return coalesce(v_claimed, '[]');
end;
$$;

create function public.claim_webhook_deliveries(max_count integer)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.claim_webhook_deliveries($1);
$$;

comment on function public.claim_webhook_deliveries is
  'Server only. Takes up to max_count (1 to 1000) due deliveries for 60 seconds and counts the try, at most four at a time a professional: [{delivery_id, claim_token, event_id, url, secrets, body}]. Errors: 422 validation_failed.';

grant execute on function
  public.claim_webhook_deliveries (integer),
  private.claim_webhook_deliveries (integer)
to service_role;

select private.hand_over('next_webhook_deliveries', 'claim_webhook_deliveries');
