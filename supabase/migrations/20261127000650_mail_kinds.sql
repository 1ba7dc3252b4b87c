-- What mails there are, in which languages, and how a professional chooses among them.

create function private.languages()
returns text[]
language sql
immutable
parallel safe
security invoker
set search_path = ''
as $$
  select array['en', 'it'];
$$;

comment on function private.languages is
  'Languages that mails are written in: those of supabase/functions/mail/texts.';

-- PL/pgSQL, because a check asks it for each mail that is queued.
create function private.mail_kinds(p_audience text)
returns text[]
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return case p_audience
    when 'client' then array[
      'booking_received',
      'booking_confirmed',
      'booking_moved',
      'booking_cancelled',
      'booking_reminder',
      'order_received',
      'order_confirmed',
      'order_cancelled',
      'payment_received',
      'payment_returned',
      'payment_refunded'
    ]
    when 'professional' then array[
      'new_booking',
      'booking_moved',
      'booking_cancelled',
      'new_order',
      'payment_received',
      'payment_returned',
      'payment_refund_failed',
      'client_undeliverable',
      'calendar_failing',
      'calendar_disconnected'
    ]
  end;
end;
$$;

comment on function private.mail_kinds is
  'Kinds of mail that profiles.mail_settings can switch off, by who gets them. Those that ask for something to be confirmed cannot be.';

-- In PL/pgSQL, because they run for each row that is written.
create function private.are_mail_settings(p_settings jsonb)
returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return jsonb_typeof(p_settings) = 'object'
    and not exists (
      select
      from jsonb_each(p_settings) as audience (name, kinds)
      where private.mail_kinds(audience.name) is null
        or jsonb_typeof(audience.kinds) <> 'object'
        or exists (
          select
          from jsonb_each(
            case jsonb_typeof(audience.kinds) when 'object' then audience.kinds else '{}' end
          ) as kind (name, switch)
          where kind.name <> all (private.mail_kinds(audience.name))
            or jsonb_typeof(kind.switch) <> 'boolean'
        )
    );
end;
$$;

comment on function private.are_mail_settings is
  'Whether a value is {"client": {kind: boolean}, "professional": {kind: boolean}} with known kinds.';

create function private.are_reminders(p_minutes integer[])
returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return coalesce(array_ndims(p_minutes), 1) = 1 and (
    select count(*) <= 2
      and count(distinct minutes) = count(*)
      and coalesce(bool_and(minutes between 30 and 20160), true)
    from unnest(p_minutes) as minutes
  );
end;
$$;

comment on function private.are_reminders is
  'Whether a list holds at most two different numbers of minutes, half an hour to two weeks.';

-- Check constraints run with the rights of whoever writes the row.
grant execute on function
  private.languages (),
  private.mail_kinds (text),
  private.are_mail_settings (jsonb),
  private.are_reminders (integer[])
to authenticated, service_role;
