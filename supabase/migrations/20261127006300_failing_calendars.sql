-- A professional is told of calendars that have failed for a day, whatever their kind.

create function private.calendars_that_fail(p_professional_id uuid)
returns table (id uuid, host text, failing_since timestamptz)
language sql
stable
security invoker
set search_path = ''
as $$
  select c.id, c.host, c.failing_since
  from private.busy_calendars c
  where c.professional_id = p_professional_id and c.failing_since < now() - interval '1 day'
  union all
  select c.id, 'calendar.google.com', c.failing_since
  from private.calendar_connections c
  where c.professional_id = p_professional_id and c.failing_since < now() - interval '1 day';
$$;

comment on function private.calendars_that_fail is
  'The calendars of a professional that have failed for more than a day.';

create function private.tell_of_failing_calendars(p_professional_id uuid)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if
    not exists (select from private.calendars_that_fail(p_professional_id))
    or exists (
      select
      from private.busy_calendars
      where professional_id = p_professional_id and told_at > now() - interval '1 day'
    )
    or exists (
      select
      from private.calendar_connections
      where professional_id = p_professional_id and told_at > now() - interval '1 day'
    )
  then
    return;
  end if;

  update private.busy_calendars
  set told_at = now()
  where professional_id = p_professional_id and failing_since < now() - interval '1 day';

  update private.calendar_connections
  set told_at = now()
  where professional_id = p_professional_id and failing_since < now() - interval '1 day';

  insert into private.mails (professional_id, audience, kind)
  values (p_professional_id, 'professional', 'calendar_failing');
end;
$$;

comment on function private.tell_of_failing_calendars is
  'Queues a mail about the calendars that have failed for more than a day, unless one was queued within the last.';
