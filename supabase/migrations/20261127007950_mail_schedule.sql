-- What jobs (jobs.sql) and health() ask of the mails.

create function private.mail_due()
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- Asked many times a minute: one look at the end of an index, and mostly that is all.
  if not exists (select from private.mails where status = 'queued' and due_at <= now()) then
    return false;
  end if;
  -- A dispatcher that waits for its turn asks again within a second, and then needs no other.
  return not exists (select from private.mail_pace where paused_until > now())
    and not exists (
      select from private.dispatches where queue = 'mail' and last_at > now() - interval '1 second'
    );
end;
$$;

comment on function private.mail_due is
  'Whether a mail may be sent now and no dispatcher has asked for one within the last second.';

create function private.forget_mails()
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  delete from private.mails
  where id in (
    select id
    from private.mails
    where created_at < now() - interval '90 days'
    for update skip locked
  );

  delete from private.mail_turns
  where professional_id in (
    select professional_id
    from private.mail_turns
    where last_at < now() - interval '1 day'
    for update skip locked
  );
$$;

comment on function private.forget_mails is 'Removes mails that are older than 90 days.';

create function private.mail_status()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_paused_until constant timestamptz := (select paused_until from private.mail_pace);
  v_oldest constant timestamptz := (
    select min(due_at) from private.mails where status = 'queued'
  );
  v_last constant timestamptz := (select last_at from private.dispatches where queue = 'mail');
begin
  if v_paused_until > now() then
    return 'the provider''s quota is spent, nothing is sent until '
      || private.timestamp_text(v_paused_until);
  elsif v_oldest < now() - interval '5 minutes' then
    return 'a mail has been due since ' || private.timestamp_text(v_oldest)
      || ', last dispatch: ' || coalesce(private.timestamp_text(v_last), 'never');
  end if;
  return 'ok';
end;
$$;

comment on function private.mail_status is
  'ok, or until when the provider''s quota is spent, or since when a mail has been due; five minutes are given.';
