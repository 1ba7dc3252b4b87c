-- E-mail addresses: what is one, and when two are the same.

-- In PL/pgSQL, because they run for each row that is written, and SQL that cannot be inlined is set
-- up anew each time.

-- The grammar is that of supabase/functions/_shared/email-address.ts; a test holds the two against
-- each other. ASCII only: Unicode has letters whose lower case is an ASCII one, so that two domains
-- would share a key and one would get the other's codes.
create function private.is_email(p_text text)
returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return char_length(p_text) <= 254
    -- RFC 5322, dot-atom, which means nothing in a mail's header; then RFC 1123, labels. The last
    -- one begins with a letter, or it would be a number of an IP address.
    and p_text ~ (
      '^[A-Za-z0-9!#$%&''*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&''*+/=?^_`{|}~-]+)*'
      '@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$'
    )
    and char_length(split_part(p_text, '@', 1)) <= 64
    and split_part(p_text, '@', 2) !~ '[^.]{64}';
end;
$$;

comment on function private.is_email is
  'Whether a text is one plain e-mail address in ASCII, at most 254 characters, 64 before the @ and 63 a label; null for null.';

-- By the C collation, which knows ASCII only: nothing else can turn into the key of an address.
create function private.email_key(p_email text)
returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return lower(private.trim_invisible(p_email) collate pg_catalog."C");
end;
$$;

comment on function private.email_key is 'What two spellings of one e-mail address have in common.';

-- An address that is kept for its own sake is kept as this: it can be recognized, and not be read.
create function private.address_digest(p_email text)
returns bytea
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return sha256(convert_to(private.email_key(p_email), 'UTF8'));
end;
$$;

comment on function private.address_digest is
  'SHA-256 of the key of an address: what all spellings of one address have in common.';

-- Check constraints and generated columns run with the rights of whoever writes the row.
grant execute on function private.is_email (text), private.email_key (text)
  to authenticated, service_role;
