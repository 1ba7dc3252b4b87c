-- What a professional sells, with variants and stock. A variant is a product whose parent is a
-- product; the parent of variants is a heading, not an article.

create table public.products (
  id uuid primary key default gen_random_uuid(),
  created_at public.timestamp_ms not null default now(),
  updated_at public.timestamp_ms not null default now(),
  professional_id uuid not null default auth.uid()
    references public.profiles (id) on delete cascade,
  parent_id uuid,
  name text not null
    constraint products_name_has_1_to_200_characters
      check (not private.is_blank(name) and char_length(name) <= 200),
  description text
    constraint products_description_has_at_most_10000_characters
      check (char_length(description) <= 10000),
  category text
    constraint products_category_has_at_most_100_characters check (char_length(category) <= 100),
  image_url text
    constraint products_image_url_is_a_web_address
      check (image_url ~ '^https?://[^\s<>"]+$' and char_length(image_url) <= 2048),
  sku text
    constraint products_sku_has_1_to_100_characters
      check (not private.is_blank(sku) and char_length(sku) <= 100),
  options jsonb not null default '{}'
    constraint products_options_are_an_object_of_at_most_2_kb
      check (jsonb_typeof(options) = 'object' and octet_length(options::text) <= 2048),
  price public.money_amount not null,
  stock integer
    constraint products_stock_is_never_negative check (stock >= 0),
  low_stock_at integer
    constraint products_low_stock_at_is_never_negative check (low_stock_at >= 0),
  in_stock boolean not null default true,
  active boolean not null default true,
  metadata jsonb not null default '{}'
    constraint products_metadata_is_an_object_of_at_most_8_kb
      check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 8192),
  constraint products_professional_id_id_key unique (professional_id, id),
  constraint products_professional_id_parent_id_fkey
    foreign key (professional_id, parent_id) references public.products (professional_id, id)
    on delete no action,
  constraint products_are_not_their_own_parent check (parent_id <> id)
);

create index products_professional_id_created_at_idx
  on public.products (professional_id, created_at desc, id);

create index products_professional_id_parent_id_idx
  on public.products (professional_id, parent_id) where parent_id is not null;

-- Ignoring case and outer space, as people compare article numbers.
create unique index products_professional_id_sku_key
  on public.products (
    professional_id, lower(private.trim_invisible(sku) collate pg_catalog.pg_c_utf8)
  )
  where sku is not null;

-- Definer: looks at the parent whatever the caller's grants are.
create function private.check_variant()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if private.is_callers_row(new.professional_id) and (
    exists (
      select from public.products
      where professional_id = new.professional_id and id = new.parent_id and parent_id is not null
    )
    or exists (
      select from public.products
      where professional_id = new.professional_id and parent_id = new.id
    )
  ) then
    perform private.raise_error(
      422, 'variant_of_variant', 'A variant cannot have variants of its own.'
    );
  end if;
  return new;
end;
$$;

comment on function private.check_variant is
  'Variants have one level: 422 variant_of_variant.';

-- Definer: the policy for the public would otherwise ask itself.
create function private.is_active_product(p_product_id uuid)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return exists (select from public.products where id = p_product_id and active);
end;
$$;

comment on function private.is_active_product is
  'Whether the product a variant hangs on is active, so that the public may see the variant.';

-- Computed relationships: the REST server embeds a table into itself no other way. They are not
-- granted to anon, who may not read every column; booking_page() shows variants to the public.
create function public.variants(public.products)
returns setof public.products
language sql
stable
security invoker
set search_path = ''
as $$
  select v.*
  from public.products v
  where v.professional_id = $1.professional_id and v.parent_id = $1.id;
$$;

create function public.parent(public.products)
returns setof public.products
rows 1
language sql
stable
security invoker
set search_path = ''
as $$
  select p.*
  from public.products p
  where p.professional_id = $1.professional_id and p.id = $1.parent_id;
$$;

comment on function public.variants is 'Variants of a product, for embedding.';

comment on function public.parent is 'The product a variant belongs to, for embedding.';

create function private.touch_product()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- in_stock is worked out afterwards and dates nothing by itself.
  new.in_stock := old.in_stock;
  if new is distinct from old then
    new.updated_at := now();
  end if;
  return new;
end;
$$;

comment on function private.touch_product is
  'BEFORE UPDATE, after whatever else changes the row: dates every real change in updated_at.';

create trigger products_lock
  before insert or update or delete on public.products
  for each statement execute function private.take_write_lock();

create trigger products_check_price
  before insert or update of price on public.products
  for each row execute function private.check_price();

create trigger products_check_variant
  before insert or update of parent_id on public.products
  for each row when (new.parent_id is not null)
  execute function private.check_variant();

create trigger products_normalize
  before insert or update of name on public.products
  for each row execute function private.trim_name();

create trigger products_keep_identity
  before update on public.products
  for each row
  when (
    (new.id, new.created_at, new.professional_id)
    is distinct from (old.id, old.created_at, old.professional_id)
  )
  execute function private.refuse_identity_change();

create trigger products_touch
  before update on public.products
  for each row execute function private.touch_product();

alter table public.products enable row level security;

-- The public sees neither stock figures nor metadata, so `select=*` is refused to it.
grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  parent_id,
  name,
  description,
  category,
  image_url,
  sku,
  options,
  price,
  in_stock,
  active
) on public.products to anon;

grant select (
  id,
  created_at,
  updated_at,
  professional_id,
  parent_id,
  name,
  description,
  category,
  image_url,
  sku,
  options,
  price,
  stock,
  low_stock_at,
  in_stock,
  active,
  metadata
) on public.products to authenticated;

-- parent_id is set on insert only.
grant insert (
  id,
  professional_id,
  parent_id,
  name,
  description,
  category,
  image_url,
  sku,
  options,
  price,
  stock,
  low_stock_at,
  active,
  metadata
), update (
  name,
  description,
  category,
  image_url,
  sku,
  options,
  price,
  stock,
  low_stock_at,
  active,
  metadata
), delete on public.products to authenticated;

grant select, insert, update, delete on public.products to service_role;

grant select, update on public.products to rules;

grant execute on function public.variants (public.products) to authenticated, service_role;

grant execute on function public.parent (public.products) to authenticated, service_role;

grant execute on function private.is_active_product (uuid) to anon;

create policy products_select_public on public.products
  for select to anon
  using (
    active
    and private.is_open_to_public(professional_id)
    and (parent_id is null or private.is_active_product(parent_id))
  );

create policy products_select_own on public.products
  for select to authenticated
  using ((select auth.uid()) = professional_id);

create policy products_insert_own on public.products
  for insert to authenticated
  with check ((select auth.uid()) = professional_id);

create policy products_update_own on public.products
  for update to authenticated
  using ((select auth.uid()) = professional_id)
  with check ((select auth.uid()) = professional_id);

create policy products_delete_own on public.products
  for delete to authenticated
  using ((select auth.uid()) = professional_id);

create policy products_all_rules on public.products
  for all to rules
  using (true)
  with check (true);

comment on table public.products is
  'Product catalogue with variants and inventory. A variant is a product with parent_id; embed with variants(*) and parent(*).';

comment on column public.products.id is 'Made here unless the caller chooses one; never changes.';

comment on column public.products.created_at is 'When the row was made; never changes.';

comment on column public.products.updated_at is
  'When something in the row last really changed, other than in_stock.';

comment on column public.products.professional_id is
  'Whose row it is: the caller''s own, or the one a server names. Never changes.';

comment on column public.products.parent_id is
  'The product this is a variant of; set on insert only, one level.';

comment on column public.products.name is '1 to 200 characters; copied onto order lines.';

comment on column public.products.description is 'For the public, at most 10000 characters.';

comment on column public.products.category is
  'What a page may group by; public, at most 100 characters.';

comment on column public.products.image_url is
  'Address of a picture, http or https, at most 2048 characters; public.';

comment on column public.products.sku is
  'Article number, unique per professional ignoring case and outer space.';

comment on column public.products.options is 'What tells variants apart, e.g. {"size": "M"}.';

comment on column public.products.price is
  'Of one piece, in the professional''s currency; copied onto order lines.';

comment on column public.products.stock is 'Pieces on hand; null means not tracked.';

comment on column public.products.low_stock_at is
  'Stock at or below which product.low_stock is told; null means never.';

comment on column public.products.in_stock is
  'Whether something is left; true where stock is not tracked. Of a product with variants: whether any active one is in stock.';

comment on column public.products.active is
  'Inactive products, and the variants of one, are hidden from the public and cannot be ordered.';

comment on column public.products.metadata is
  'An object of at most 8 kB that the rules do not read; the public never sees it.';

comment on policy products_select_public on public.products is
  'Anybody reads active products of professionals who accept bookings or orders; variants while their product is active.';

comment on policy products_select_own on public.products is 'A professional reads own products.';

comment on policy products_insert_own on public.products is 'A professional adds own products.';

comment on policy products_update_own on public.products is 'A professional edits own products.';

comment on policy products_delete_own on public.products is 'A professional deletes own products.';

select private.hand_over('check_variant', 'is_active_product');
