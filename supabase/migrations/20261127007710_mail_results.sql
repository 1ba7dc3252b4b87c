-- RPC of the dispatcher: say how a try went. When the next one is, is decided here.

create function private.mail_retry_delay(p_attempts integer, p_retry_after integer)
returns interval
language sql
immutable
security invoker
set search_path = ''
as $$
  select greatest(step, make_interval(secs => least(coalesce(p_retry_after, 0), 86400)))
  from (
    select (array['1 minute', '5 minutes', '30 minutes', '2 hours']::interval[])[p_attempts] as step
  ) as schedule
  where step is not null;
$$;

comment on function private.mail_retry_delay is
  'Time from a failed try to the next one, later when the provider asks for it; null after the fifth.';

-- Definer: nobody has rights on the queue.
create function private.finish_mail(
  p_mail_id uuid,
  p_claim_token uuid,
  p_result text,
  p_provider_id text,
  p_retry_after integer
)
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_mail private.mails;
  v_delay interval;
begin
  perform private.check_arguments(
    case when p_mail_id is null then 'mail_id' end,
    case when p_claim_token is null then 'claim_token' end,
    case
      when (p_result in ('sent', 'retry', 'refused', 'quota')) is not true then 'result'
    end,
    case when char_length(p_provider_id) not between 1 and 200 then 'provider_id' end,
    case
      when p_retry_after < 0 or (p_result = 'quota' and p_retry_after is null) then 'retry_after'
    end
  );

  select * into v_mail
  from private.mails
  where id = p_mail_id and claim_token = p_claim_token
  for update;

  if not found then
    return null;
  end if;

  case p_result
    when 'sent' then
      perform private.end_mail(p_mail_id, 'sent', null);

      update private.mails set provider_id = p_provider_id where id = p_mail_id;
    when 'refused' then
      perform private.end_mail(p_mail_id, 'failed', 'refused');
    when 'quota' then
      update private.mails
      set
        attempts = attempts - 1,
        detail = detail || '{"counted": true}',
        claim_token = null,
        due_at = now()
      where id = p_mail_id;

      update private.mail_pace
      set paused_until = greatest(
        paused_until, clock_timestamp() + make_interval(secs => least(p_retry_after, 2678400))
      );
    when 'retry' then
      v_delay := private.mail_retry_delay(v_mail.attempts, p_retry_after);
      if v_delay is null then
        perform private.end_mail(p_mail_id, 'failed', 'gave_up');
      else
        update private.mails
        set claim_token = null, due_at = now() + v_delay
        where id = p_mail_id;
      end if;
  end case;

  return (
    select jsonb_build_object(
      'status', status, 'next_attempt_at', private.timestamp_text(due_at)
    )
    from private.mails
    where id = p_mail_id
  );
end;
$$;

create function public.finish_mail(
  mail_id uuid,
  claim_token uuid,
  result text,
  provider_id text default null,
  retry_after integer default null
)
returns jsonb
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.finish_mail($1, $2, $3, $4, $5);
$$;

comment on function public.finish_mail is
  'Server only. How the try of a claim went: sent (with the provider''s id), retry, refused (for good), or quota, which uses no try up and pauses the queue for retry_after seconds. {status, next_attempt_at}; null when the claim has been lost. Errors: 422 validation_failed {"fields"}.';

grant execute on function
  public.finish_mail (uuid, uuid, text, text, integer),
  private.finish_mail (uuid, uuid, text, text, integer)
to service_role;

select private.hand_over('finish_mail');
