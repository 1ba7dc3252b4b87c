-- The queue of payments: one row an object at Stripe that is to be looked at. An event only rings
-- here; what is so is asked for and recorded, so that repetition, order and delay do not matter.

create table private.payment_tasks (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  professional_id uuid not null references public.profiles (id) on delete cascade,
  account_id text not null,
  kind text not null
    constraint payment_tasks_kind_is_known
      check (kind in ('checkout', 'refund', 'dispute', 'account')),
  -- Ours for a checkout or refund that we have made, else Stripe's.
  object_id text not null,
  -- While it is claimed: the end of the lease.
  due_at timestamptz not null,
  attempts integer not null default 0,
  claim_token uuid,
  -- Counts bells, so that one during a claim is not forgotten when that is finished.
  rang bigint not null default 0,
  claimed_rang bigint,
  constraint payment_tasks_object_id_account_id_key unique (object_id, account_id),
  constraint payment_tasks_professional_id_account_id_fkey
    foreign key (professional_id, account_id)
    references private.payment_accounts (professional_id, id)
    on delete cascade
);

create index payment_tasks_professional_id_account_id_idx
  on private.payment_tasks (professional_id, account_id);

create index payment_tasks_due_at_idx on private.payment_tasks (due_at);

-- What is under way.
create index payment_tasks_claimed_idx
  on private.payment_tasks (professional_id) where claim_token is not null;

create function private.uuid_of(p_text text)
returns uuid
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case when pg_input_is_valid(p_text, 'uuid') then p_text::uuid end;
end;
$$;

comment on function private.uuid_of is 'An id of ours in a text that may be Stripe''s; null for that.';

create function private.plan_payment_task(
  p_professional_id uuid,
  p_account_id text,
  p_kind text,
  p_object_id text,
  p_due_at timestamptz
)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  insert into private.payment_tasks as t (
    professional_id, account_id, kind, object_id, due_at
  )
  values (p_professional_id, p_account_id, p_kind, p_object_id, p_due_at)
  on conflict (object_id, account_id) do update
  -- A bell that nobody has answered yet is not put off.
  set due_at = case
    when t.claim_token is null then least(t.due_at, excluded.due_at)
    else t.due_at
  end;
$$;

comment on function private.plan_payment_task is
  'An object is looked at by then at the latest. A claim under way plans it itself when it is finished.';

create function private.ring_payment_task(
  p_professional_id uuid,
  p_account_id text,
  p_kind text,
  p_object_id text
)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  insert into private.payment_tasks as t (
    professional_id, account_id, kind, object_id, due_at, rang
  )
  values (p_professional_id, p_account_id, p_kind, p_object_id, now(), 1)
  on conflict (object_id, account_id) do update
  set
    rang = t.rang + 1,
    due_at = case when t.claim_token is null then least(t.due_at, now()) else t.due_at end;
$$;

comment on function private.ring_payment_task is
  'An object is to be looked at now, also when somebody is just looking.';

-- Definer: Stripe's events come to a server, which has rights on nothing here.
create function private.ring_payment(
  p_account_id text,
  p_kind text,
  p_object_id text,
  p_livemode boolean
)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_professional_id uuid;
begin
  perform private.check_arguments(
    case when p_account_id is null then 'account_id' end,
    case when (p_kind in ('checkout', 'refund', 'dispute', 'account')) is not true then 'kind' end,
    case when (char_length(p_object_id) between 1 and 255) is not true then 'object_id' end,
    case when p_livemode is null then 'livemode' end
  );
  select professional_id into v_professional_id
  from private.payment_accounts
  where id = p_account_id and livemode = p_livemode;

  if not found then
    return false;
  end if;

  perform private.ring_payment_task(
    v_professional_id,
    p_account_id,
    p_kind,
    coalesce(
      (
        select id::text
        from private.checkouts
        where p_kind = 'checkout' and account_id = p_account_id and session_id = p_object_id
      ),
      (
        select id::text
        from private.provider_refunds
        where p_kind = 'refund' and account_id = p_account_id and provider_id = p_object_id
      ),
      p_object_id
    )
  );
  return true;
end;
$$;

create function public.ring_payment(
  account_id text,
  kind text,
  object_id text,
  livemode boolean
)
returns boolean
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.ring_payment($1, $2, $3, $4);
$$;

comment on function public.ring_payment is
  'Server only. Stripe has told of an object of an account: whether the account is known, and then it will be looked at. Errors: 422 validation_failed.';

alter table private.payment_tasks enable row level security;

grant select, insert, update, delete on private.payment_tasks to rules;

create policy payment_tasks_all_rules on private.payment_tasks
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.ring_payment (text, text, text, boolean),
  private.ring_payment (text, text, text, boolean)
to service_role;

comment on table private.payment_tasks is
  'Objects at Stripe that are to be looked at, each once, however often it rang.';

select private.hand_over('ring_payment');
