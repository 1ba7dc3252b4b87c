-- RPC of the dispatcher: take what is due. A claim is a lease: a dispatcher that dies leaves it to
-- the next one after a minute. The rate is kept here, because dispatchers overlap.

create function private.next_mails(p_max_count integer)
returns table (id uuid)
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return query
  with recursive owners as (
    -- From professional to professional along the index, however many mails wait for each.
    (
      select m.professional_id
      from private.mails m
      where m.status = 'queued'
      order by m.professional_id
      limit 1
    )
    union all
    select following.professional_id
    from owners o
    cross join lateral (
      select m.professional_id
      from private.mails m
      where m.status = 'queued' and m.professional_id > o.professional_id
      order by m.professional_id
      limit 1
    ) as following
  )
  select due.id
  from owners o
  cross join lateral (
    select m.id, m.due_at, row_number() over (order by m.due_at, m.created_at) as turn
    from private.mails m
    where m.professional_id = o.professional_id and m.status = 'queued' and m.due_at <= now()
    order by m.due_at, m.created_at
    limit p_max_count
  ) as due
  left join private.mail_turns t on t.professional_id = o.professional_id
  -- The first of every professional before the second of any, and first who has waited longest.
  order by due.turn, coalesce(t.last_at, '-infinity'), due.due_at
  limit p_max_count;
end;
$$;

comment on function private.next_mails is 'Mails that are due, in turn by professional.';

create function private.end_mail(p_mail_id uuid, p_status text, p_outcome text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  update private.mails
  set
    status = p_status,
    outcome = p_outcome,
    due_at = null,
    claim_token = null,
    finished_at = clock_timestamp()
  where id = p_mail_id;
$$;

comment on function private.end_mail is 'Takes a mail out of the queue: sent, dropped or failed.';

create function private.set_client_undeliverable(p_professional_id uuid, p_client_id uuid)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if not private.try_lock_professional(p_professional_id) then
    return false;
  end if;
  update public.clients
  set mail_status = 'undeliverable'
  where professional_id = p_professional_id and id = p_client_id and mail_status = 'ok';
  return true;
end;
$$;

comment on function private.set_client_undeliverable is
  'Says so on the client''s row; false while somebody else holds the write lock.';

-- Each statement sees what was committed before it, so what is read here is of after the row was
-- locked: a change that it does not show has found the row locked, and queued another.
create function private.claim_mail(p_mail_id uuid)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_mail private.mails;
  v_subject private.mail_subject;
  v_email text;
  v_reason text;
begin
  select * into v_mail
  from private.mails
  where id = p_mail_id and status = 'queued' and due_at <= now()
  for update skip locked;

  if not found then
    return null;
  elsif v_mail.attempts >= 5 then
    -- The last try was under way when its dispatcher died.
    perform private.end_mail(p_mail_id, 'failed', 'gave_up');
    return null;
  end if;

  v_subject := private.mail_subject(v_mail);
  v_email := case v_mail.audience
    when 'client' then (v_subject.client).email
    else private.owner_email(v_mail.professional_id)
  end;
  v_reason := private.reason_to_drop(v_mail, v_subject, v_email);
  if v_reason is not null then
    -- Not yet, while the client's row cannot say so.
    if v_reason <> 'undeliverable'
      or v_mail.audience = 'professional'
      or private.set_client_undeliverable(v_mail.professional_id, v_mail.client_id)
    then
      perform private.end_mail(p_mail_id, 'dropped', v_reason);
    end if;
    return null;
  end if;

  update private.mails
  set
    attempts = attempts + 1,
    claim_token = gen_random_uuid(),
    due_at = now() + interval '60 seconds',
    recipient = v_email,
    told_starts_at = (v_subject.booking).starts_at,
    told_ends_at = (v_subject.booking).ends_at
  where id = p_mail_id
  returning * into v_mail;

  insert into private.mail_turns (professional_id, last_at)
  values (v_mail.professional_id, clock_timestamp())
  on conflict (professional_id) do update set last_at = excluded.last_at;

  return private.mail_facts(v_mail, v_subject, v_email);
end;
$$;

comment on function private.claim_mail is
  'Takes one mail for 60 seconds, counts the try and returns its facts; null when it was dropped, or is not to be had.';

-- Definer: nobody has rights on the queue.
create function private.claim_mails(p_max_count integer, p_per_second integer)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_pace private.mail_pace;
  v_now timestamptz;
  v_room integer;
  v_id uuid;
  v_facts jsonb;
  v_claimed jsonb := '[]';
begin
  perform private.check_arguments(
    case when (p_max_count between 1 and 1000) is not true then 'max_count' end,
    case when (p_per_second between 1 and 1000) is not true then 'per_second' end
  );

  -- One claim at a time, so that the rate is kept and nobody's turn comes twice.
  perform pg_advisory_xact_lock(7306, 0);

  insert into private.dispatches (queue) values ('mail')
  on conflict (queue) do update set last_at = now();

  select * into v_pace from private.mail_pace;
  v_now := clock_timestamp();
  if v_pace.paused_until > v_now then
    return '[]';
  end if;
  -- A burst of one second's, then an even refill.
  v_pace.full_at := greatest(v_pace.full_at, v_now);
  v_room := least(
    p_max_count,
    floor(extract(epoch from v_now + interval '1 second' - v_pace.full_at) * p_per_second + 0.001)
  );
  if v_room < 1 then
    return '[]';
  end if;

  -- Some will be dropped, and cost the provider nothing.
  for v_id in select id from private.next_mails(v_room + 200) loop
    v_facts := private.claim_mail(v_id);
    if v_facts is not null then
      v_claimed := v_claimed || v_facts;
      exit when jsonb_array_length(v_claimed) = v_room;
    end if;
  end loop;

  update private.mail_pace
  set full_at = v_pace.full_at
    + interval '1 second' * jsonb_array_length(v_claimed) / p_per_second;
  return v_claimed;
end;
$$;

create function public.claim_mails(max_count integer, per_second integer)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.claim_mails($1, $2);
$$;

comment on function public.claim_mails is
  'Server only. Takes due mails for 60 seconds and counts the try, at most max_count (1 to 1000) and what is left of per_second (1 to 1000, a burst of one second''s), in turn by professional; drops what is no longer true or must not be sent. An array of what each is about (supabase/functions/mail/facts.ts); empty also while the rate or the provider''s quota is spent. Errors: 422 validation_failed {"fields"}.';

grant execute on function
  public.claim_mails (integer, integer),
  private.claim_mails (integer, integer)
to service_role;

select private.hand_over('claim_mails');
