-- Where the pages are that links in mails lead to. The functions know it and report it; without it
-- nobody could confirm a hold.

-- Definer: servers have no rights in private.
create function private.report_portal_address(p_portal_url text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.check_arguments(
    case
      when p_portal_url !~ '^https?://[^\s<>"]+$' or char_length(p_portal_url) > 2048
      then 'portal_url'
    end
  );

  -- The row is read before every request: the same address is written once an hour.
  update private.settings
  set portal_url = p_portal_url, portal_reported_at = now()
  where id
    and (
      portal_url is distinct from p_portal_url
      or portal_reported_at is null
      or (p_portal_url is not null and portal_reported_at < now() - interval '1 hour')
    );
end;
$$;

create function private.check_links()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if not exists (select from private.settings where portal_url is not null) then
    perform private.raise_error(
      422,
      'links_not_configured',
      'No mail can have a link yet.',
      p_hint => 'The operator sets PORTAL_URL for the functions.'
    );
  end if;
  return new;
end;
$$;

comment on function private.check_links is
  '422 links_not_configured while the functions have reported no portal address: holds of the public would all be lost.';

create function public.report_portal_address(portal_url text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  select private.report_portal_address($1);
$$;

create trigger profiles_check_links_on_insert
  before insert on public.profiles
  for each row when (new.verify_public_email)
  execute function private.check_links();

create trigger profiles_check_links_on_update
  before update of verify_public_email on public.profiles
  for each row when (new.verify_public_email and not old.verify_public_email)
  execute function private.check_links();

grant execute on function
  public.report_portal_address (text),
  private.report_portal_address (text)
to service_role;

comment on function public.report_portal_address is
  'Server only. The functions say where links in mails lead to, null for nowhere; then verify_public_email cannot be switched on, and health() tells when somebody needs it. Errors: 422 validation_failed {"fields"}.';

select private.hand_over('report_portal_address', 'check_links');
