-- Accounts that are on their way out. The row belongs to no professional: what is left to do
-- outside after the account is gone, the last mail, is done from it, and it goes when all is done.

create table private.account_deletions (
  -- Of auth.users; without a foreign key, since it outlives the account.
  account_id uuid primary key,
  requested_at timestamptz not null default now(),
  -- As they were: nobody can be asked later.
  recipient text,
  language text not null,
  -- When a dispatcher may take it. The route that was asked does so at once.
  due_at timestamptz not null default now() + interval '10 seconds',
  -- Counted by the claim, so that a dispatcher that dies has used one up.
  attempts integer not null default 0,
  -- The try that is under way; finishing needs it.
  claim_token uuid
);

create index account_deletions_due_at_idx on private.account_deletions (due_at);

create function private.account_contents(p_professional_id uuid)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'clients', (select count(*) from public.clients where professional_id = p_professional_id),
    'services', (select count(*) from public.services where professional_id = p_professional_id),
    'products', (select count(*) from public.products where professional_id = p_professional_id),
    'bookings', (select count(*) from public.bookings where professional_id = p_professional_id),
    'orders', (select count(*) from public.orders where professional_id = p_professional_id),
    'payments', (select count(*) from private.payments where professional_id = p_professional_id)
  );
$$;

comment on function private.account_contents is 'How many rows of each kind go with an account.';

-- Definer, like all that follow: nobody has rights on the table.
create function private.request_account_deletion(p_confirmation text)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_account_id constant uuid := private.caller_professional_id();
  v_username text;
  v_language text;
  v_contents jsonb;
begin
  perform private.require_person();
  perform private.check_arguments(
    case when char_length(p_confirmation) > 200 then 'confirmation' end
  );
  -- Whoever asks a second time finds the row of the first, or no profile.
  perform private.lock_professional(v_account_id);

  select username, language into v_username, v_language
  from public.profiles
  where id = v_account_id;

  if not found then
    perform private.raise_not_found('account');
  end if;
  v_contents := private.account_contents(v_account_id);

  if p_confirmation is distinct from v_username then
    perform private.raise_error(
      422,
      'confirmation_required',
      'Deleting the account cannot be undone.',
      jsonb_build_object('confirmation', v_username, 'goes', v_contents)::text,
      'Export what you have to keep, and give your username as confirmation.'
    );
  elsif private.session_started_at() < now() - interval '10 minutes' then
    perform private.raise_error(
      403,
      'recent_sign_in_required',
      'You have been signed in for more than ten minutes.',
      p_hint => 'Sign in again.'
    );
  end if;

  insert into private.account_deletions (account_id, recipient, language)
  values (v_account_id, private.owner_email(v_account_id), v_language)
  on conflict (account_id) do nothing;

  perform private.detach_payments(v_account_id);

  return jsonb_build_object('account_id', v_account_id, 'goes', v_contents);
end;
$$;

create function private.has_open_payments(p_account_id uuid, p_requested_at timestamptz)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return p_requested_at > now() - interval '10 minutes' and exists (
    select
    from private.checkouts
    where professional_id = p_account_id and status in ('creating', 'open')
    union all
    select
    from private.provider_refunds
    where professional_id = p_account_id and status = 'due'
  );
end;
$$;

comment on function private.has_open_payments is
  'Whether somebody may still pay on a page of an account that goes, or money has still to go back. The dispatcher of payments sees to both; after ten minutes the account goes all the same.';

create function private.claim_account_deletions(p_account_id uuid, p_max_count integer)
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
    case when (p_max_count between 1 and 100) is not true then 'max_count' end
  );

  with claimed as (
    update private.account_deletions
    set
      claim_token = gen_random_uuid(),
      due_at = now() + interval '1 minute',
      attempts = attempts + 1
    where account_id in (
      select account_id
      from private.account_deletions
      where (
          (p_account_id is null and due_at <= now())
          -- Asked for by the route: it waits for no other try but one that is under way.
          or (account_id = p_account_id and (claim_token is null or due_at <= now()))
        )
        and not private.has_open_payments(account_id, requested_at)
      order by due_at
      limit p_max_count
      for update skip locked
    )
    returning *
  )
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'account_id', c.account_id,
        'claim_token', c.claim_token,
        'recipient', case
          when not exists (
            select
            from private.suppressed_addresses s
            where s.address_digest = private.address_digest(c.recipient)
          )
          then c.recipient
        end,
        'language', c.language
      )
    ),
    '[]'
  )
  into v_claimed
  from claimed c;

  return v_claimed;
end;
$$;

create function private.finish_account_deletion(
  p_account_id uuid,
  p_claim_token uuid,
  p_mailed boolean
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case when p_account_id is null then 'account_id' end,
    case when p_claim_token is null then 'claim_token' end,
    case when p_mailed is null then 'mailed' end
  );

  delete from private.account_deletions
  where account_id = p_account_id
    and claim_token = p_claim_token
    -- A day and a half of trying; the account is gone all the same.
    and (p_mailed or attempts >= 12);

  update private.account_deletions
  set
    claim_token = null,
    due_at = now() + least(make_interval(mins => (2 ^ attempts)::integer), interval '6 hours')
  where account_id = p_account_id and claim_token = p_claim_token;
end;
$$;

create function private.account_due()
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select exists (select from private.account_deletions where due_at <= now());
$$;

comment on function private.account_due is 'Whether an account waits for somebody to delete it.';

create function private.account_status()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  -- Whose account is still there: a mail that is tried again is no fault of this.
  v_oldest constant timestamptz := (
    select min(d.requested_at)
    from private.account_deletions d
    join public.profiles p on p.id = d.account_id
  );
begin
  if v_oldest < now() - interval '15 minutes' then
    return 'an account has waited to be deleted since ' || private.timestamp_text(v_oldest);
  end if;
  return 'ok';
end;
$$;

comment on function private.account_status is
  'ok, or since when an account has waited to be deleted; fifteen minutes are given, of which ten for payment pages to be closed.';

create function public.request_account_deletion(confirmation text default null)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.request_account_deletion($1);
$$;

comment on function public.request_account_deletion is
  'Has your account deleted, within a minute or two; POST /functions/v1/account/delete calls this and does it at once. confirmation is your username. {account_id, goes}: how many rows of each kind go with it. Errors: 403 person_required; 403 recent_sign_in_required; 422 confirmation_required {"confirmation", "goes"}; 422 validation_failed.';

create function public.claim_account_deletions(account_id uuid, max_count integer)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.claim_account_deletions($1, $2);
$$;

comment on function public.claim_account_deletions is
  'Server only. Takes accounts to delete for a minute, one by its id or (null) those that are due, but none while somebody may pay on a page of it or is to get money back, for ten minutes: [{account_id, claim_token, recipient, language}]. recipient is null where no mail may go.';

create function public.finish_account_deletion(
  account_id uuid,
  claim_token uuid,
  mailed boolean
)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_account_deletion($1, $2, $3);
$$;

comment on function public.finish_account_deletion is
  'Server only. The account of a claim is gone: forgets it, or tries the mail again later, at most twelve times.';

alter table private.account_deletions enable row level security;

grant select, insert, update, delete on private.account_deletions to rules;

create policy account_deletions_all_rules on private.account_deletions
  for all to rules
  using (true)
  with check (true);

grant execute on function
  public.request_account_deletion (text),
  private.request_account_deletion (text)
to authenticated;

grant execute on function
  public.claim_account_deletions (uuid, integer),
  private.claim_account_deletions (uuid, integer),
  public.finish_account_deletion (uuid, uuid, boolean),
  private.finish_account_deletion (uuid, uuid, boolean)
to service_role;

comment on table private.account_deletions is
  'Accounts that are being deleted: the address for the last mail, until it is sent.';

select private.hand_over(
  'request_account_deletion',
  'claim_account_deletions',
  'finish_account_deletion'
);
