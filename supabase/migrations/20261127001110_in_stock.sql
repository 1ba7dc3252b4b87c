-- Whether something can be had, kept in the row: the public may read that, but no stock, and of a
-- heading it follows from other rows. Nobody is granted to write it.

create function private.is_in_stock(p_product public.products)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return coalesce(
    (
      select bool_or(active and in_stock)
      from public.products
      where professional_id = p_product.professional_id and parent_id = p_product.id
    ),
    p_product.stock > 0,
    true
  );
end;
$$;

comment on function private.is_in_stock is
  'A heading is in stock when an active variant is, whatever its own stock; else what has stock left or does not track it.';

-- Whatever was written to in_stock, by a server too, is worked out here. Definer, like every
-- trigger function here: API roles hold no EXECUTE on what it calls.
create function private.work_out_in_stock()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  new.in_stock := private.is_in_stock(new);
  return new;
end;
$$;

comment on function private.work_out_in_stock is 'BEFORE row trigger: in_stock says what is_in_stock() does.';

create function private.refresh_heading()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  v_stale constant uuid[] := array(
    select p.id
    from public.products p
    where p.id in (old.parent_id, new.parent_id) and p.in_stock <> private.is_in_stock(p)
  );
begin
  -- An update of no row would run the statement triggers all the same.
  if v_stale <> '{}' then
    update public.products set in_stock = not in_stock where id = any (v_stale);
  end if;
  return null;
end;
$$;

comment on function private.refresh_heading is
  'AFTER row trigger on variants: in_stock of their product follows. Nothing else of it changes, updated_at neither, and no event tells of it.';

-- By its name after products_touch: a change of in_stock alone is not dated.
create trigger products_work_out_in_stock
  before insert or update of stock, in_stock on public.products
  for each row execute function private.work_out_in_stock();

create trigger products_refresh_heading_on_insert
  after insert on public.products
  for each row when (new.parent_id is not null)
  execute function private.refresh_heading();

create trigger products_refresh_heading_on_update
  after update on public.products
  for each row when (
    (old.parent_id, old.active, old.in_stock)
      is distinct from (new.parent_id, new.active, new.in_stock)
    and (old.parent_id is not null or new.parent_id is not null)
  )
  execute function private.refresh_heading();

create trigger products_refresh_heading_on_delete
  after delete on public.products
  for each row when (old.parent_id is not null)
  execute function private.refresh_heading();

select private.hand_over('work_out_in_stock', 'refresh_heading');
