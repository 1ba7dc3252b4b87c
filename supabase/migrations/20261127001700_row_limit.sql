-- How much one request may write: a statement of many rows holds its professional's lock, and one
-- connection, for as long as it runs.

-- Definer, like every trigger function here: API roles hold no EXECUTE on what it calls.
create function private.check_row_count()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_most constant integer := 1000;
  -- An upsert fires twice, for what it inserts and for what it updates.
  v_rows constant integer :=
    coalesce(nullif(current_setting('private.rows_written', true), '')::integer, 0)
    + (select count(*) from written);
begin
  if v_rows > v_most then
    perform private.raise_error(
      413,
      'too_many_rows',
      'This request writes too many rows.',
      json_build_object('most', v_most)::text,
      'Send them in several requests.'
    );
  end if;
  perform set_config('private.rows_written', v_rows::text, true);
  return null;
end;
$$;

comment on function private.check_row_count is
  'AFTER … FOR EACH STATEMENT: 413 too_many_rows beyond 1000 rows that one request writes directly.';

-- On direct writes of users only: in an RPC the role is `rules`, in a cascade the tables' owner,
-- and servers import. profiles has one row for each user.
do $$
declare
  v_table text;
  v_command text;
begin
  foreach v_table in array array['services', 'clients', 'products', 'bookings', 'orders'] loop
    foreach v_command in array array['insert', 'update', 'delete'] loop
      execute format(
        'create trigger %1$s_8_check_row_count_on_%2$s
          after %2$s on public.%1$s
          referencing %3$s table as written
          for each statement when (current_user in (''authenticated'', ''portal_client''))
          execute function private.check_row_count()',
        v_table,
        v_command,
        case v_command when 'delete' then 'old' else 'new' end
      );
    end loop;
  end loop;
end
$$;

select private.hand_over('check_row_count');
