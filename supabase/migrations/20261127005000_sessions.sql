-- Signing out takes effect at once. A token is valid until it expires for everybody who only checks
-- its signature; the Data API also asks whether its session is still there.

-- Definer: reads sessions of the auth service and of the portal.
create function private.check_session()
returns void
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_claims constant jsonb := private.jwt_claims();
  v_session_id constant text := v_claims ->> 'session_id';
  v_live boolean := true;
begin
  if v_claims ->> 'role' = 'portal_client' then
    v_live := private.portal_session_is_live(
      v_session_id::uuid, (v_claims ->> 'professional_id')::uuid, (v_claims ->> 'sub')::uuid
    );
  elsif v_session_id is not null then
    v_live := exists (
      select
      from auth.sessions
      where id = v_session_id::uuid and (not_after is null or not_after > now())
    );
  end if;

  if not v_live then
    perform private.raise_error(
      401,
      'session_not_found',
      'The session has ended.',
      p_hint => 'Sign in again.',
      p_headers => '{"WWW-Authenticate": "Bearer"}'
    );
  end if;
end;
$$;

comment on function private.check_session is
  'Specification, token lifecycle: after sign-out both tokens are invalid. 401 session_not_found. Tokens without a session are not affected.';
