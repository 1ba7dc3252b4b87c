-- Signing out takes effect at once. A token is valid until it expires for everybody who only checks
-- its signature; the Data API also asks whether its session is still there (request_limits.sql).

create function private.raise_session_not_found()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.raise_error(
    401,
    'session_not_found',
    'The session has ended.',
    p_hint => 'Sign in again.',
    p_headers => '{"WWW-Authenticate": "Bearer"}'
  );
end;
$$;

comment on function private.raise_session_not_found is
  '401 session_not_found: the session of the token is over, signed out or somebody else''s.';
