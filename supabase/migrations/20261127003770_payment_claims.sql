-- RPCs of the dispatcher of payments: take what is due, and say that it was looked at. A claim is a
-- lease: a dispatcher that dies leaves it to the next one after a minute.

create function private.next_payment_tasks(p_max_count integer, p_object_id text)
returns table (id uuid)
language plpgsql
stable
rows 16
security invoker
set search_path = ''
as $$
begin
  if p_object_id is not null then
    -- Whoever waits for this one may be before its time.
    return query
    select t.id
    from private.payment_tasks t
    where t.object_id = p_object_id and (t.due_at <= now() or t.claim_token is null)
    limit p_max_count;
    return;
  end if;

  return query
  with due as (
    select
      t.id,
      t.professional_id,
      t.due_at,
      row_number() over (partition by t.professional_id order by t.due_at) as place
    from private.payment_tasks t
    where t.due_at <= now()
  ),
  at_work as (
    select t.professional_id, count(*) as under_way
    from private.payment_tasks t
    where t.claim_token is not null and t.due_at > now()
    group by t.professional_id
  )
  select due.id
  from due
  left join at_work w using (professional_id)
  where due.place + coalesce(w.under_way, 0) <= 4
  -- The first of every professional before the second of any.
  order by due.place + coalesce(w.under_way, 0), due.due_at
  limit p_max_count;
end;
$$;

comment on function private.next_payment_tasks is
  'Tasks that are due, in turn by professional, four at a time; or that of one object, unless somebody has it.';

create function private.payments_due()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- Asked many times a minute: one look at the end of an index, and mostly that is all.
  if not exists (select from private.payment_tasks where due_at <= now()) then
    return false;
  end if;
  return not exists (
    select
    from private.dispatches
    where queue = 'payments' and last_at > now() - interval '1 second'
  );
end;
$$;

comment on function private.payments_due is
  'Whether a task is due and no dispatcher has asked for one within the last second.';

create function private.payment_queue_status()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_oldest constant timestamptz := (select min(due_at) from private.payment_tasks);
  v_last constant timestamptz := (select last_at from private.dispatches where queue = 'payments');
begin
  if v_oldest < now() - interval '5 minutes' then
    return 'a payment has been to be looked at since ' || private.timestamp_text(v_oldest)
      || ', last dispatch: ' || coalesce(private.timestamp_text(v_last), 'never');
  end if;
  return 'ok';
end;
$$;

comment on function private.payment_queue_status is
  'ok, or since when an object at Stripe is to be looked at; five minutes are given.';

create function private.payment_task_json(p_task private.payment_tasks)
returns jsonb
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return jsonb_build_object(
    'task_id', p_task.id,
    'claim_token', p_task.claim_token,
    'kind', p_task.kind,
    'account_id', p_task.account_id,
    'livemode', (select livemode from private.payment_accounts where id = p_task.account_id),
    'object_id', p_task.object_id,
    'attempts', p_task.attempts - 1,
    'checkout', (
      select private.checkout_json(c)
        || jsonb_build_object('expire', not private.is_page_wanted(c))
      from private.checkouts c
      where p_task.kind = 'checkout' and c.id = private.uuid_of(p_task.object_id)
    ),
    'refund', (
      select jsonb_build_object(
        'id', r.id,
        'payment_intent', p.reference,
        'minor', r.minor,
        'provider_id', r.provider_id
      )
      from private.provider_refunds r
      join private.payments p on p.id = r.payment_id
      where p_task.kind = 'refund' and r.id = private.uuid_of(p_task.object_id)
    )
  );
end;
$$;

comment on function private.payment_task_json is 'A task as the dispatcher reads it.';

-- Definer: nobody has rights on the queue.
create function private.claim_payment_tasks(p_max_count integer, p_object_id text)
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
    case when (p_max_count between 1 and 1000) is not true then 'max_count' end,
    case when char_length(p_object_id) > 255 then 'object_id' end
  );

  -- One claim at a time, so that what is under way is counted right.
  perform pg_advisory_xact_lock(7307, 0);

  if p_object_id is null then
    insert into private.dispatches (queue) values ('payments')
    on conflict (queue) do update set last_at = now();
  end if;

  with locked as (
    select l.id
    from private.next_payment_tasks(p_max_count, p_object_id) as n
    cross join lateral (
      select t.id, t.due_at, t.claim_token
      from private.payment_tasks t
      where t.id = n.id
      offset 0
      -- Whoever rings keeps it until the change is committed that it rang for.
      for update skip locked
    ) as l
    where l.due_at <= now() or (p_object_id is not null and l.claim_token is null)
  ),
  claimed as (
    update private.payment_tasks t
    set
      claim_token = gen_random_uuid(),
      due_at = now() + interval '60 seconds',
      attempts = t.attempts + 1,
      claimed_rang = t.rang
    from locked
    where t.id = locked.id
    returning t.*
  )
  select jsonb_agg(private.payment_task_json(c)) into v_claimed
  from claimed c;

  return coalesce(v_claimed, '[]');
end;
$$;

create function private.next_look_at_unknown(p_task private.payment_tasks)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- The event of its payment may be lost; that payment is found when its session ends, which lives
  -- for a day at most.
  return case
    when p_task.created_at > now() - interval '25 hours'
      and not exists (
        select
        from private.provider_refunds
        where account_id = p_task.account_id and provider_id = p_task.object_id
      )
      and not exists (select from private.disputes where id = p_task.object_id)
      and exists (
        select
        from private.checkouts
        where professional_id = p_task.professional_id
          and account_id = p_task.account_id
          and status in ('creating', 'open')
      )
      and p_task.object_id ~ '^[a-z]{2}_'
    then now() + interval '1 hour'
  end;
end;
$$;

comment on function private.next_look_at_unknown is
  'A refund or dispute of a payment that is not in the ledger is asked for again while a page is open that may have taken it; mostly it is of something that was not sold here.';

create function private.next_look(p_task private.payment_tasks)
returns timestamptz
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return case p_task.kind
    when 'account' then (
      select now() + interval '1 day'
      from private.payment_accounts
      where id = p_task.object_id and detached_at is null
    )
    when 'checkout' then (
      select private.next_look_at_checkout(c)
      from private.checkouts c
      where c.id = private.uuid_of(p_task.object_id)
    )
    when 'refund' then coalesce(
      (
        select case r.status
          when 'due' then now() + interval '1 minute'
          when 'pending' then now() + interval '1 day'
        end
        from private.provider_refunds r
        where r.id = private.uuid_of(p_task.object_id)
      ),
      private.next_look_at_unknown(p_task)
    )
    when 'dispute' then coalesce(
      private.next_look_at_dispute(p_task.object_id), private.next_look_at_unknown(p_task)
    )
  end;
end;
$$;

comment on function private.next_look is
  'When an object is to be looked at although nothing rings, by what is recorded of it; null when nothing more will come of it.';

create function private.finish_payment_task(
  p_task_id uuid,
  p_claim_token uuid,
  p_retry_after integer
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_task private.payment_tasks;
  v_due_at timestamptz;
begin
  perform private.check_arguments(
    case when p_task_id is null then 'task_id' end,
    case when p_claim_token is null then 'claim_token' end,
    case when p_retry_after not between 0 and 604800 then 'retry_after' end
  );
  select * into v_task
  from private.payment_tasks
  where id = p_task_id and claim_token = p_claim_token
  for update;

  -- Somebody else has it by now.
  if not found then
    return;
  end if;

  v_due_at := case
    -- Stripe is not well, and a bell does not change that.
    when p_retry_after is not null then now() + make_interval(secs => p_retry_after)
    when v_task.rang > v_task.claimed_rang then now()
    else private.next_look(v_task)
  end;
  if v_due_at is null then
    delete from private.payment_tasks where id = p_task_id;
  else
    update private.payment_tasks
    set
      due_at = v_due_at,
      claim_token = null,
      claimed_rang = null,
      attempts = case when p_retry_after is null then 0 else attempts end
    where id = p_task_id;
  end if;
end;
$$;

create function public.claim_payment_tasks(max_count integer, object_id text default null)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.claim_payment_tasks($1, $2);
$$;

comment on function public.claim_payment_tasks is
  'Server only. Takes up to max_count (1 to 1000) due tasks, or that of one object, due or not, for 60 seconds: [{task_id, claim_token, kind, account_id, livemode, object_id, attempts, checkout, refund}], at most four at a time a professional. Errors: 422 validation_failed.';

create function public.finish_payment_task(
  task_id uuid,
  claim_token uuid,
  retry_after integer default null
)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_payment_task($1, $2, $3);
$$;

comment on function public.finish_payment_task is
  'Server only. A task was worked off, and comes again when what is recorded says so; with retry_after, in so many seconds; at once when it rang meanwhile. Errors: 422 validation_failed.';

grant execute on function
  public.claim_payment_tasks (integer, text),
  private.claim_payment_tasks (integer, text),
  public.finish_payment_task (uuid, uuid, integer),
  private.finish_payment_task (uuid, uuid, integer)
to service_role;

select private.hand_over('claim_payment_tasks', 'finish_payment_task');
