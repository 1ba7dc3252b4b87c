-- Accounts of professionals at Stripe, which collect what is paid to them. Only the id is kept, and
-- what Stripe said last. One that was let go stays: what it collected may still be disputed.

create table private.payment_accounts (
  id text primary key
    constraint payment_accounts_id_is_an_account_s check (id ~ '^acct_[A-Za-z0-9]{1,250}$'),
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  livemode boolean not null,
  can_charge boolean not null default false,
  -- In Stripe's own words.
  missing text[] not null default '{}',
  checked_at timestamptz,
  detached_at timestamptz,
  -- Stripe does not let us act for it any more.
  deauthorized_at timestamptz,
  constraint payment_accounts_professional_id_id_key unique (professional_id, id)
);

create unique index payment_accounts_one_attached
  on private.payment_accounts (professional_id) where detached_at is null;

-- A try to make one; its id is the idempotency key until there is an account.
create table private.payment_account_attempts (
  professional_id uuid primary key references public.profiles (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now()
);

create function private.raise_payments_unavailable()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(
    422, 'payments_unavailable', 'The professional cannot take payments now.'
  );
end;
$$;

comment on function private.raise_payments_unavailable is
  '422 payments_unavailable: no account, or one that Stripe does not let charge.';

create function private.charging_account(p_professional_id uuid)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return (
    select id
    from private.payment_accounts
    where professional_id = p_professional_id and detached_at is null and can_charge
  );
end;
$$;

comment on function private.charging_account is
  'The account of a professional that could charge when Stripe was asked last; null without one.';

create function private.payment_account_json(p_account private.payment_accounts)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'account_id', p_account.id,
    'livemode', p_account.livemode,
    'can_charge', p_account.can_charge,
    'missing', p_account.missing,
    'checked_at', private.timestamp_text(p_account.checked_at)
  );
$$;

comment on function private.payment_account_json is 'An account as its owner sees it.';

-- Definer, like the others: nobody has rights on accounts.
create function private.connect_payment_account()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_account_id text;
  v_attempt_id uuid;
begin
  perform private.require_person();
  perform private.lock_professional(v_professional_id);

  -- It will never charge for us again; another one may.
  update private.payment_accounts
  set detached_at = now()
  where professional_id = v_professional_id
    and detached_at is null
    and deauthorized_at is not null;

  select id into v_account_id
  from private.payment_accounts
  where professional_id = v_professional_id and detached_at is null;

  if v_account_id is null then
    insert into private.payment_account_attempts as a (professional_id)
    values (v_professional_id)
    on conflict (professional_id) do update set created_at = a.created_at
    returning id into v_attempt_id;
  end if;

  return jsonb_build_object(
    'account_id', v_account_id,
    'attempt_id', v_attempt_id,
    'email', private.jwt_claims() ->> 'email',
    'name', (
      select coalesce(nullif(full_name, ''), username)
      from public.profiles
      where id = v_professional_id
    )
  );
end;
$$;

create function private.payment_account()
returns jsonb
language plpgsql
-- As the first thing that a route does: a caller that may only read is refused.
volatile
security definer
set search_path = ''
as $$
begin
  return (
    select private.payment_account_json(a)
    from private.payment_accounts a
    where a.professional_id = private.caller_professional_id() and a.detached_at is null
  );
end;
$$;

-- What has been asked of it goes on: its late events still find whose it was.
create function private.detach_payments(p_professional_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update private.payment_accounts
  set detached_at = now()
  where professional_id = p_professional_id and detached_at is null;

  perform private.ring_checkouts(c.order_id)
  from (
    select distinct order_id
    from private.checkouts
    where professional_id = p_professional_id and status in ('creating', 'open')
  ) as c;
end;
$$;

comment on function private.detach_payments is
  'Nobody pays into the professional''s account any more; its open pages are closed. Call it under the write lock.';

create function private.detach_payment_account()
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
  perform private.lock_professional(v_professional_id);
  perform private.detach_payments(v_professional_id);
  return jsonb_build_object('account_id', null);
end;
$$;

create function private.attach_payment_account(
  p_professional_id uuid,
  p_attempt_id uuid,
  p_account_id text,
  p_livemode boolean
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case when p_professional_id is null then 'professional_id' end,
    case when p_attempt_id is null then 'attempt_id' end,
    case when (p_account_id ~ '^acct_[A-Za-z0-9]{1,250}$') is not true then 'account_id' end,
    case when p_livemode is null then 'livemode' end
  );
  perform private.lock_professional(p_professional_id);

  -- Twice at once is the same account, by the key.
  if exists (
    select from private.payment_accounts
    where id = p_account_id and professional_id = p_professional_id
  ) then
    return;
  elsif exists (
    select from private.payment_accounts
    where professional_id = p_professional_id and detached_at is null
  ) then
    -- Another country was given at the same moment, and had its answer first.
    perform private.raise_busy();
  end if;

  delete from private.payment_account_attempts
  where professional_id = p_professional_id and id = p_attempt_id;

  if not found then
    perform private.raise_not_found('attempt');
  end if;
  insert into private.payment_accounts (id, professional_id, livemode)
  values (p_account_id, p_professional_id, p_livemode);
  perform private.plan_payment_task(
    p_professional_id, p_account_id, 'account', p_account_id, now() + interval '1 day'
  );
end;
$$;

create function private.record_payment_account(p_account_id text, p_facts jsonb)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case when p_account_id is null then 'account_id' end,
    case
      when (
        jsonb_typeof(p_facts -> 'can_charge') = 'boolean'
        and jsonb_typeof(p_facts -> 'missing') = 'array'
        and jsonb_array_length(p_facts -> 'missing') <= 1000
        and jsonb_typeof(p_facts -> 'deauthorized') = 'boolean'
      ) is not true
      then 'facts'
    end
  );
  update private.payment_accounts
  set
    can_charge = (p_facts ->> 'can_charge')::boolean and not (p_facts ->> 'deauthorized')::boolean,
    missing = array(select jsonb_array_elements_text(p_facts -> 'missing')),
    checked_at = now(),
    deauthorized_at = case
      when (p_facts ->> 'deauthorized')::boolean then coalesce(deauthorized_at, now())
    end
  where id = p_account_id;
end;
$$;

create function public.connect_payment_account()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.connect_payment_account();
$$;

comment on function public.connect_payment_account is
  'For POST /account of the payments function: {account_id, attempt_id, email, name}; account_id null before there is one, then attempt_id is what it is made under.';

create function public.payment_account()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.payment_account();
$$;

comment on function public.payment_account is
  'Your account for payments, as Stripe described it last: {account_id, livemode, can_charge, missing, checked_at}; null without one.';

create function public.detach_payment_account()
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.detach_payment_account();
$$;

comment on function public.detach_payment_account is
  'Lets your account for payments go: its open payment pages are closed. What it collected stays known.';

create function public.attach_payment_account(
  professional_id uuid,
  attempt_id uuid,
  account_id text,
  livemode boolean
)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.attach_payment_account($1, $2, $3, $4);
$$;

comment on function public.attach_payment_account is
  'Server only. The account that an attempt has made is the professional''s. Errors: 404 PGRST301 for an attempt that is not theirs or over; 422 validation_failed.';

create function public.record_payment_account(account_id text, facts jsonb)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.record_payment_account($1, $2);
$$;

comment on function public.record_payment_account is
  'Server only. What Stripe says of an account now: {can_charge, missing, deauthorized}. Errors: 422 validation_failed.';

alter table private.payment_accounts enable row level security;

grant
  select,
  insert (id, professional_id, livemode),
  update (can_charge, missing, checked_at, detached_at, deauthorized_at)
on private.payment_accounts to rules;

create policy payment_accounts_all_rules on private.payment_accounts
  for all to rules
  using (true)
  with check (true);

alter table private.payment_account_attempts enable row level security;

grant select, insert (professional_id), update (created_at), delete
on private.payment_account_attempts to rules;

create policy payment_account_attempts_all_rules on private.payment_account_attempts
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.connect_payment_account (),
  private.connect_payment_account (),
  public.payment_account (),
  private.payment_account (),
  public.detach_payment_account (),
  private.detach_payment_account ()
to authenticated;

grant execute on function
  public.attach_payment_account (uuid, uuid, text, boolean),
  private.attach_payment_account (uuid, uuid, text, boolean),
  public.record_payment_account (text, jsonb),
  private.record_payment_account (text, jsonb)
to service_role;

comment on table private.payment_accounts is
  'Accounts at Stripe. One attached a professional; the others are kept for what comes late.';

comment on table private.payment_account_attempts is
  'Accounts that are being made: at most one a professional.';

select private.hand_over(
  'connect_payment_account',
  'payment_account',
  'detach_payment_account',
  'attach_payment_account',
  'record_payment_account'
);
