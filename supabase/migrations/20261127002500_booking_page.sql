-- RPC: all a public page needs to show one professional, by username. Nobody can list usernames.

create function private.public_products(p_professional_id uuid, p_parent_id uuid)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'id', p.id,
        'name', p.name,
        'description', p.description,
        'category', p.category,
        'image_url', p.image_url,
        'sku', p.sku,
        'options', p.options,
        'price', p.price,
        'in_stock', p.in_stock
      )
      || case
        when p_parent_id is null
        then jsonb_build_object('variants', private.public_products(p_professional_id, p.id))
        else '{}'
      end
      order by p.name, p.id
    ),
    '[]'
  )
  from public.products p
  where p.professional_id = p_professional_id
    and p.parent_id is not distinct from p_parent_id
    and p.active
    -- A heading whose variants are all inactive has nothing to order.
    and (
      select bool_or(v.active)
      from public.products v
      where v.professional_id = p_professional_id and v.parent_id = p.id
    ) is not false;
$$;

comment on function private.public_products is
  'Active products as the public sees them, with their variants; or the variants of one.';

create function private.public_contact(p_profile public.profiles)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_object_agg(
    field.name,
    case when field.name = any (p_profile.public_contact) then field.value end
  )
  from (
    values
      ('contact_email', p_profile.contact_email),
      ('contact_phone', p_profile.contact_phone),
      ('address', p_profile.address)
  ) as field (name, value);
$$;

comment on function private.public_contact is
  'contact_email, contact_phone and address, each null unless public_contact names it.';

-- Definer: the public reads no profiles.
create function private.booking_page(p_username text)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_profile public.profiles;
begin
  perform private.check_arguments(
    case when p_username is null or char_length(p_username) > 60 then 'username' end
  );

  select * into v_profile
  from public.profiles
  where username = lower(private.trim_invisible(p_username))
    and (accepts_bookings or accepts_orders);

  if not found then
    perform private.raise_not_found('page');
  end if;

  return jsonb_build_object(
    'professional', jsonb_build_object(
      'id', v_profile.id,
      'username', v_profile.username,
      'full_name', v_profile.full_name,
      'niche', v_profile.niche,
      'bio', v_profile.bio,
      'image_url', v_profile.image_url,
      'time_zone', v_profile.time_zone,
      'currency', v_profile.currency,
      'prices_include_tax', v_profile.prices_include_tax,
      'orders_need_payment', v_profile.orders_need_payment,
      'hours', v_profile.availability
    ) || private.public_contact(v_profile),
    'services', coalesce(
      (
        select jsonb_agg(
          jsonb_build_object(
            'id', s.id,
            'name', s.name,
            'description', s.description,
            'category', s.category,
            'image_url', s.image_url,
            'price', s.price,
            'payment', s.payment,
            'deposit', case when s.payment = 'deposit' then s.deposit end,
            'duration', s.duration,
            'min_notice', s.min_notice,
            'max_advance_days', s.max_advance_days,
            'cancellation_notice', s.cancellation_notice,
            'requires_confirmation', s.requires_confirmation,
            'location', case when not private.is_link(s.location) then s.location end
          )
          order by s.name, s.id
        )
        from public.services s
        where s.professional_id = v_profile.id and s.active and v_profile.accepts_bookings
      ),
      '[]'
    ),
    'products', case
      when v_profile.accepts_orders then private.public_products(v_profile.id, null)
      else '[]'
    end
  );
end;
$$;

create function public.booking_page(username text)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.booking_page($1);
$$;

comment on function public.booking_page is
  'The public page of a professional, by username without case and outer space: {professional, services, products}; services when bookings are accepted, products when orders are. Errors: 404 PGRST301 for an unknown username or a professional who accepts neither; 422 validation_failed.';

grant execute on function public.booking_page (text) to anon, authenticated, service_role;

grant execute on function private.booking_page (text) to anon, authenticated, service_role;

select private.hand_over('booking_page');
