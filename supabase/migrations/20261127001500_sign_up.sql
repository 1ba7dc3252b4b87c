-- Every user has a profile. Whatever the metadata of a sign-up holds, it must never make the
-- sign-up fail, and it can set nothing but a name, a username, a niche and a picture.

-- Text of the first of these keys that holds a usable string; null without one.
create function private.metadata_text(
  p_metadata jsonb,
  p_max_length integer,
  variadic p_keys text[]
)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select private.trim_invisible(left(value, p_max_length))
  from (
    select
      k.position,
      private.trim_invisible(
        regexp_replace(p_metadata ->> k.key, '[[:cntrl:]]+', ' ', 'g')
      ) as value
    from unnest(p_keys) with ordinality as k (key, position)
    where jsonb_typeof(p_metadata) = 'object' and jsonb_typeof(p_metadata -> k.key) = 'string'
  ) as found
  where not private.is_blank(value)
  order by position
  limit 1;
$$;

comment on function private.metadata_text is
  'First string among the keys of user metadata, trimmed, control characters removed, cut to length.';

create function private.slug(p_text text)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select nullif(btrim(left(btrim(regexp_replace(
    -- Decomposed, an accent is a character of its own: é becomes e and a mark, and marks go.
    regexp_replace(
      lower(normalize(p_text, nfkd) collate pg_catalog.pg_c_utf8), '[\u0300-\u036F]', '', 'g'
    ),
    '[^a-z0-9]+', '-', 'g'
  ), '-'), 50), '-'), '');
$$;

comment on function private.slug is
  'Lower-case letters, digits and single hyphens, at most 50 characters; null when nothing is left.';

create function private.create_profile(p_user_id uuid, p_metadata jsonb)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
-- A username that somebody is about to take, or only holds: the sign-up takes another.
set lock_timeout = '100ms'
as $$
declare
  v_full_name constant text := private.metadata_text(p_metadata, 200, 'full_name', 'name');
  v_image_url constant text := private.metadata_text(p_metadata, 2049, 'picture', 'avatar_url');
  v_username constant text := coalesce(
    private.slug(private.metadata_text(p_metadata, 200, 'username')),
    -- Never from the e-mail: the username is public.
    private.slug(v_full_name),
    'pro-' || left(md5(gen_random_uuid()::text), 8)
  );
  v_try text := v_username;
begin
  loop
    begin
      insert into public.profiles (id, full_name, username, niche, image_url)
      values (
        p_user_id,
        coalesce(v_full_name, ''),
        v_try,
        private.metadata_text(p_metadata, 100, 'niche'),
        -- Half an address is none.
        case
          when char_length(v_image_url) <= 2048 and v_image_url ~ '^https?://[^\s<>"]+$'
            then v_image_url
        end
      )
      on conflict do nothing;
    exception when lock_not_available then
      null;
    end;

    exit when exists (select from public.profiles where id = p_user_id);
    v_try := v_username || '-' || left(md5(gen_random_uuid()::text), 4);
  end loop;
end;
$$;

comment on function private.create_profile is
  'Makes the profile of a user from its metadata: full_name or name, username (a free slug), niche, picture.';

-- Definer: the auth service's role has no rights here.
create function private.handle_new_user()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  begin
    perform private.create_profile(new.id, new.raw_user_meta_data);
  exception when others then
    -- A name we did not foresee must not keep anybody out.
    raise warning 'profile of a new user made without metadata: % %', sqlstate, sqlerrm;
    perform private.create_profile(new.id, '{}');
  end;
  return null;
end;
$$;

comment on function private.handle_new_user is
  'AFTER INSERT on auth.users: specification, a profiles row is created automatically at sign-up.';

-- Before any row of the account goes, so that deleting it waits for writers instead of deadlocking.
create function private.lock_deleted_user()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform private.lock_professional(old.id);
  return old;
end;
$$;

comment on function private.lock_deleted_user is
  'BEFORE DELETE on auth.users: takes the write lock of the account that goes.';

create trigger profiles_on_sign_up
  after insert on auth.users
  for each row execute function private.handle_new_user();

create trigger profiles_lock_on_account_deletion
  before delete on auth.users
  for each row execute function private.lock_deleted_user();

-- Users who were there before this migration.
select private.create_profile(u.id, u.raw_user_meta_data)
from auth.users u
where not exists (select from public.profiles p where p.id = u.id);

select private.hand_over('handle_new_user', 'lock_deleted_user');
