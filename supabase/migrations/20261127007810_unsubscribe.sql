-- RPC of the function behind the link in each reminder: the client wants no more of them.

-- Definer: our servers hold no EXECUTE on the write lock.
create function private.unsubscribe_client(p_client_id uuid, p_link_epoch integer)
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
    case when p_client_id is null then 'client_id' end,
    case when p_link_epoch is null then 'link_epoch' end
  );
  select professional_id into v_professional_id from public.clients where id = p_client_id;
  if not found then
    return false;
  end if;
  perform private.lock_professional(v_professional_id);

  update public.clients
  set reminders = false
  where professional_id = v_professional_id and id = p_client_id and link_epoch = p_link_epoch;
  return found;
end;
$$;

create function public.unsubscribe_client(client_id uuid, link_epoch integer)
returns boolean
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.unsubscribe_client($1, $2);
$$;

comment on function public.unsubscribe_client is
  'Server only. Ends reminders to a client whose link was used: true, also when they had ended; false when the link is of an earlier epoch. Errors: 422 validation_failed {"fields"}; 429 busy.';

grant execute on function
  public.unsubscribe_client (uuid, integer),
  private.unsubscribe_client (uuid, integer)
to service_role;

select private.hand_over('unsubscribe_client');
