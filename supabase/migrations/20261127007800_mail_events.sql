-- RPC of the function that hears from the provider: what became of a mail. One that never arrives
-- stops the next ones to that address, and the professional whose mail it was is told.

create function private.tell_undeliverable(p_mail private.mails, p_reason text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_client public.clients;
begin
  update public.clients
  set mail_status = 'undeliverable'
  where professional_id = p_mail.professional_id
    and id = p_mail.client_id
    -- Not when the client has another address by now.
    and email_key = private.email_key(p_mail.recipient)
    and mail_status = 'ok'
  returning * into v_client;

  if not found then
    return;
  end if;
  insert into private.mails (professional_id, audience, kind, client_id)
  values (p_mail.professional_id, 'professional', 'client_undeliverable', p_mail.client_id);

  if private.records_events(p_mail.professional_id) then
    perform private.emit_event(
      p_mail.professional_id,
      'mail.undeliverable',
      jsonb_build_object(
        'reason', p_reason,
        'mail', jsonb_build_object(
          'id', p_mail.id,
          'kind', p_mail.kind,
          'booking_id', p_mail.booking_id,
          'order_id', p_mail.order_id
        ),
        'client', jsonb_build_object(
          'id', v_client.id, 'name', v_client.name, 'email', v_client.email
        )
      ),
      null,
      v_client.id
    );
  end if;
end;
$$;

comment on function private.tell_undeliverable is
  'Marks the client whom a mail did not reach, and tells the professional by mail and event, once. Call it under the write lock.';

-- Definer: nobody has rights on the queue.
create function private.record_mail_event(p_provider_id text, p_type text, p_detail jsonb)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_mail private.mails;
begin
  perform private.check_arguments(
    case when (char_length(p_provider_id) between 1 and 200) is not true then 'provider_id' end,
    case
      when (
        p_type in ('delivered', 'bounced', 'complained', 'suppressed', 'failed')
      ) is not true
      then 'type'
    end,
    case
      when jsonb_typeof(p_detail) <> 'object' or octet_length(p_detail::text) > 8192
      then 'detail'
    end
  );

  select * into v_mail from private.mails where provider_id = p_provider_id;
  if not found then
    return false;
  end if;
  perform private.lock_professional(v_mail.professional_id);
  select * into v_mail from private.mails where provider_id = p_provider_id for update;

  -- Events come twice, and an old one must not undo what was learned since.
  if v_mail.id is null or v_mail.outcome = p_type then
    return v_mail.id is not null;
  end if;

  if p_type = 'delivered' then
    update private.mails
    set outcome = p_type
    where id = v_mail.id and outcome is null;

    update public.clients
    set mail_status = 'ok'
    where professional_id = v_mail.professional_id
      and id = v_mail.client_id
      and v_mail.audience = 'client'
      and v_mail.outcome is null
      and email_key = private.email_key(v_mail.recipient)
      and mail_status <> 'ok';
    return true;
  end if;

  update private.mails
  set
    outcome = p_type,
    status = case p_type when 'complained' then status else 'failed' end,
    detail = detail || jsonb_build_object('event', coalesce(p_detail, '{}'))
  where id = v_mail.id;

  if p_type <> 'failed' then
    insert into private.suppressed_addresses (address_digest, reason)
    values (private.address_digest(v_mail.recipient), p_type)
    on conflict do nothing;

    if v_mail.audience = 'client' then
      perform private.tell_undeliverable(v_mail, p_type);
    end if;
  end if;
  return true;
end;
$$;

create function public.record_mail_event(
  provider_id text,
  type text,
  detail jsonb default null
)
returns boolean
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.record_mail_event($1, $2, $3);
$$;

comment on function public.record_mail_event is
  'Server only. What the provider says of a mail: delivered, bounced (for good), complained, suppressed (by its own list) or failed. After the three in the middle the address gets no more mails. False when no mail has this id, or not yet. Errors: 422 validation_failed {"fields"}; 429 busy.';

grant execute on function
  public.record_mail_event (text, text, jsonb),
  private.record_mail_event (text, text, jsonb)
to service_role;

select private.hand_over('record_mail_event');
