-- Whether Stripe's key is a live one. The function knows it and reports it: accounts that were
-- connected with a key of the other mode charge nobody, so nobody is made to wait for them.

-- Definer: servers have no rights in private.
create function private.report_payment_mode(p_livemode boolean)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(case when p_livemode is null then 'livemode' end);

  -- The row is read before every request: it is written when the key was changed.
  update private.settings
  set payments_livemode = p_livemode
  where id and payments_livemode is distinct from p_livemode;
end;
$$;

create function public.report_payment_mode(livemode boolean)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.report_payment_mode($1);
$$;

grant execute on function
  public.report_payment_mode (boolean),
  private.report_payment_mode (boolean)
to service_role;

comment on function public.report_payment_mode is
  'Server only. The payments function says of which mode its key is; nothing is held for accounts of the other one. Errors: 422 validation_failed {"fields"}.';

select private.hand_over('report_payment_mode');
