-- Texts that people type or paste: what of them cannot be seen. By code point, not by `\s` or `\S`,
-- which each collation reads otherwise and which take a zero-width space for a letter.

-- White space, fillers, and marks that format what is on both sides of them. Variation selectors
-- and tags are not among them: the heart or the flag that a name ends with is another one without.
create function private.trim_invisible(p_text text)
returns text
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
declare
  v_invisible constant text :=
    '[\u0009-\u000D\u0020\u0085\u00A0\u00AD\u061C\u1680\u180E\u2000-\u200F\u2028-\u202F'
    '\u205F-\u206F\u2800\u3000\u3164\uFEFF\uFFA0]+';
begin
  return regexp_replace(p_text, '^' || v_invisible || '|' || v_invisible || '$', '', 'g');
end;
$$;

comment on function private.trim_invisible is
  'Removes surrounding white space and characters that cannot be seen: zero-width ones, fillers, marks of direction.';

-- Also what trimming leaves: control characters, and all that only changes the look of a character
-- before it, such as variation selectors and tags. By Unicode's properties White_Space, Cc and
-- Default_Ignorable_Code_Point; Braille's blank has none of them.
create function private.is_blank(p_text text)
returns boolean
language plpgsql
immutable
parallel safe
security invoker
set search_path = ''
as $$
begin
  return p_text ~ (
    '^[\u0001-\u0020\u007F-\u00A0\u00AD\u034F\u061C\u115F\u1160\u1680\u17B4\u17B5\u180B-\u180F'
    '\u2000-\u200F\u2028-\u202F\u205F-\u206F\u2800\u3000\u3164'
    '\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8'
    '\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]*$'
  );
end;
$$;

comment on function private.is_blank is
  'Whether nothing of a text can be seen, as of an empty one; null for null.';

create function private.trim_name()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  new.name := private.trim_invisible(new.name);
  return new;
end;
$$;

comment on function private.trim_name is
  'BEFORE INSERT OR UPDATE OF name: trims it as people paste it.';

-- Check constraints, indexes and invoker triggers run with the rights of whoever writes the row.
grant execute on function private.trim_invisible (text), private.is_blank (text)
  to authenticated, service_role;
