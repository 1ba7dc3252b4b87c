-- RPC: what was mailed to whom, when, and how it ended.

create type public.mail_record as (
  id uuid,
  audience text,
  kind text,
  recipient text,
  status text,
  outcome text,
  client_id uuid,
  booking_id uuid,
  order_id uuid,
  created_at text,
  due_at text,
  finished_at text
);

comment on type public.mail_record is
  'A mail of the last 90 days, without what it said. Times are ISO 8601 with milliseconds and Z.';

comment on column public.mail_record.id is 'Of the mail in the queue, the same on every try.';

comment on column public.mail_record.audience is 'client or professional: who gets it.';

comment on column public.mail_record.kind is
  'What it is about, such as booking_confirmed; docs/mail.md lists them.';

comment on column public.mail_record.recipient is
  'The address it was last sent to; null before the first try.';

comment on column public.mail_record.status is
  'queued, sent, dropped (it was not to be sent) or failed.';

comment on column public.mail_record.outcome is
  'Why it was dropped or failed; of a sent one delivered or complained once the provider says so.';

comment on column public.mail_record.client_id is 'Whom it is to or about; null for none.';

comment on column public.mail_record.booking_id is 'The booking it is about; null for none.';

comment on column public.mail_record.order_id is 'The order it is about; null for none.';

comment on column public.mail_record.created_at is 'When what it tells happened.';

comment on column public.mail_record.due_at is 'When the next try is; null unless queued.';

comment on column public.mail_record.finished_at is
  'When it was sent, dropped or given up; null while queued.';

-- Definer: nobody has rights on the queue.
create function private.mails(p_booking_id uuid, p_client_id uuid, p_order_id uuid)
returns setof public.mail_record
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
begin
  if coalesce(p_booking_id, p_client_id, p_order_id) is null then
    perform private.check_arguments('booking_id', 'client_id', 'order_id');
  end if;
  if p_booking_id is not null and not exists (
    select from public.bookings where professional_id = v_professional_id and id = p_booking_id
  ) then
    perform private.raise_not_found('booking');
  elsif p_client_id is not null and not exists (
    select from public.clients where professional_id = v_professional_id and id = p_client_id
  ) then
    perform private.raise_not_found('client');
  elsif p_order_id is not null and not exists (
    select from public.orders where professional_id = v_professional_id and id = p_order_id
  ) then
    perform private.raise_not_found('order');
  end if;

  return query
    select
      m.id,
      m.audience,
      m.kind,
      m.recipient,
      m.status,
      m.outcome,
      m.client_id,
      m.booking_id,
      m.order_id,
      private.timestamp_text(m.created_at),
      private.timestamp_text(m.due_at),
      private.timestamp_text(m.finished_at)
    from private.mails m
    where m.professional_id = v_professional_id
      and (p_booking_id is null or m.booking_id = p_booking_id)
      and (p_client_id is null or m.client_id = p_client_id)
      and (p_order_id is null or m.order_id = p_order_id)
    order by m.created_at desc, m.id
    limit 1000;
end;
$$;

create function public.mails(
  booking_id uuid default null,
  client_id uuid default null,
  order_id uuid default null
)
returns setof public.mail_record
language sql
stable
security invoker
set search_path = ''
as $$
  select * from private.mails($1, $2, $3);
$$;

comment on function public.mails is
  'Mails of the last 90 days about a booking, a client or an order of yours, newest first, at most 1000. Of several arguments, those about all of them. Errors: 404 PGRST301; 422 validation_failed {"fields"} without any.';

grant execute on function public.mails (uuid, uuid, uuid), private.mails (uuid, uuid, uuid)
  to authenticated;

select private.hand_over('mails');
