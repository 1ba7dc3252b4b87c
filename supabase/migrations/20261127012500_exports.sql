-- RPCs: a professional takes everything out, or everything about one client (GDPR, articles 15 and
-- 20). After all tables, of which each with a professional is here or on the list of
-- tests/exports.test.ts, which names what is left out, and why.

-- Columns are named one by one, so that a new one is not shown before somebody has thought of it.
-- Pages go by `key`, unique in a professional and the same for all of a row's life: what is written
-- between two pages would otherwise be in both. `of_client` is the condition for one of them, with
-- the professional as $1 and the client as $2, null where a table holds nothing of clients.
create type private.export_table as (
  source regclass,
  columns text[],
  key text,
  key_type regtype,
  of_client text
);

create function private.exports()
returns setof private.export_table
language sql
stable
security invoker
set search_path = ''
as $$
  with of_booking (condition) as (
    values (
      'booking_id in (
        select id from public.bookings where professional_id = $1 and client_id = $2
      )'
    )
  ),
  of_order (condition) as (
    values (
      'order_id in (
        select id from public.orders where professional_id = $1 and client_id = $2
      )'
    )
  ),
  of_payment (condition) as (
    select 'payment_id in (
      select id from private.payments where professional_id = $1 and ' || condition || '
    )'
    from of_order
  ),
  tables (source, columns, key, key_type, of_client) as (
    values
      (
        'public.profiles',
        'id created_at updated_at full_name username niche bio image_url time_zone currency
        availability accepts_bookings accepts_orders tax_rate prices_include_tax unpaid_order_hours
        verify_public_email payment_minutes orders_need_payment tier language mail_settings
        reminders contact_email contact_phone address public_contact mail_footer',
        'id',
        'uuid',
        null
      ),
      (
        'public.services',
        'id created_at updated_at professional_id name description category image_url price payment
        deposit duration buffer_before buffer_after slot_step min_notice max_advance_days
        cancellation_notice requires_confirmation active location instructions metadata',
        'id',
        'uuid',
        null
      ),
      (
        'public.products',
        'id created_at updated_at professional_id parent_id name description category image_url sku
        options price stock low_stock_at in_stock active metadata',
        'id',
        'uuid',
        null
      ),
      (
        'public.clients',
        'id created_at updated_at professional_id name email phone notes tags archived metadata
        language reminders mail_status link_epoch email_key',
        'id',
        'uuid',
        'id = $2'
      ),
      (
        'public.bookings',
        'id created_at updated_at professional_id client_id service_id service_name starts_at
        ends_at buffer_before buffer_after cancellation_notice status price currency notes
        internal_notes source cancel_reason cancelled_at cancelled_by expires_at checkout_open
        email_confirmed_at version metadata',
        'id',
        'uuid',
        'client_id = $2'
      ),
      (
        'public.orders',
        'id created_at updated_at professional_id client_id number kind booking_id items subtotal
        discount tax total deposit currency status amount_paid amount_refunded payment_status
        shipping_address notes internal_notes source expires_at checkout_open email_confirmed_at
        version metadata',
        'id',
        'uuid',
        'client_id = $2'
      ),
      (
        'private.payments',
        'id created_at professional_id order_id kind amount method reference reason provider flag
        return_cause',
        'id',
        'uuid',
        (select condition from of_order)
      ),
      (
        'private.payment_holds',
        'order_id created_at professional_id booking_id prolonged prolonged_at prolonged_from
        lapsed',
        'order_id',
        'uuid',
        (select condition from of_order)
      ),
      (
        'private.payment_accounts',
        'id created_at professional_id livemode can_charge missing checked_at detached_at
        deauthorized_at',
        'id',
        'text',
        null
      ),
      (
        'private.payment_account_attempts',
        'professional_id id created_at',
        'professional_id',
        'uuid',
        null
      ),
      (
        'private.checkouts',
        'id created_at professional_id order_id account_id amount currency minor params session_id
        url payment_intent status failure expires_at',
        'id',
        'uuid',
        (select condition from of_order)
      ),
      (
        'private.provider_refunds',
        'id created_at professional_id payment_id account_id amount minor status provider_id cause
        reason failure',
        'id',
        'uuid',
        (select condition from of_payment)
      ),
      (
        'private.disputes',
        'id created_at professional_id payment_id account_id status reason',
        'id',
        'text',
        (select condition from of_payment)
      ),
      (
        'private.order_products',
        'professional_id order_id product_id quantity',
        'order_id || '' '' || product_id',
        'text',
        (select condition from of_order)
      ),
      (
        'private.stock_ledger',
        'id created_at professional_id product_id order_id delta reason',
        'id',
        'bigint',
        (select condition from of_order)
      ),
      (
        'private.mails',
        'id created_at professional_id audience kind client_id booking_id order_id payment_id detail
        status due_at attempts told_starts_at told_ends_at recipient provider_id outcome
        finished_at',
        'id',
        'uuid',
        'client_id = $2'
      ),
      (
        'private.proven_addresses',
        'professional_id proven_at',
        'md5(encode(address_digest, ''hex''))',
        'text',
        'address_digest = (
          select private.address_digest(email)
          from public.clients
          where professional_id = $1 and id = $2
        )'
      ),
      (
        'private.portal_codes',
        'professional_id client_id link_epoch generation expires_at attempts failures locked_until',
        'client_id',
        'uuid',
        'client_id = $2'
      ),
      (
        'private.portal_sessions',
        'id professional_id client_id link_epoch created_at expires_at revoked_at',
        'id',
        'uuid',
        'client_id = $2'
      ),
      (
        'private.booking_sessions',
        'id professional_id booking_id link_epoch created_at expires_at revoked_at',
        'id',
        'uuid',
        (select condition from of_booking)
      ),
      (
        'private.unheard_clients',
        'professional_id client_id',
        'client_id',
        'uuid',
        'client_id = $2'
      ),
      (
        'private.idempotency_keys',
        'professional_id function key result_id created_at',
        'function || '' '' || key',
        'text',
        'result_id in (
          select id from public.bookings where professional_id = $1 and client_id = $2
          union all
          select id from public.orders where professional_id = $1 and client_id = $2
        )'
      ),
      (
        'private.webhook_endpoints',
        'id created_at professional_id url events description enabled disabled_reason failing_since
        failed_tries slow_tries',
        'id',
        'uuid',
        null
      ),
      (
        'private.webhook_events',
        'id professional_id sequence created_at type client_id of_erasure body',
        'sequence',
        'bigint',
        'client_id = $2'
      ),
      (
        'private.webhook_deliveries',
        'id created_at professional_id endpoint_id event_id status attempts next_attempt_at
        last_status',
        'id',
        'uuid',
        'event_id in (
          select id from private.webhook_events where professional_id = $1 and client_id = $2
        )'
      ),
      (
        'private.webhook_attempts',
        'id professional_id delivery_id started_at duration_ms status response error',
        'id',
        'uuid',
        'delivery_id in (
          select d.id
          from private.webhook_deliveries d
          join private.webhook_events v
            on v.professional_id = d.professional_id and v.id = d.event_id
          where v.professional_id = $1 and v.client_id = $2
        )'
      ),
      (
        'private.webhook_owner_mails',
        'id created_at professional_id endpoint_id',
        'id',
        'bigint',
        null
      ),
      (
        'private.webhook_expired_events',
        'professional_id sequence highest',
        'professional_id',
        'uuid',
        null
      ),
      (
        'private.confirmed_owners',
        'professional_id confirmed_at',
        'professional_id',
        'uuid',
        null
      ),
      (
        'private.suspended_owners',
        'professional_id reason suspended_at',
        'professional_id',
        'uuid',
        null
      ),
      (
        'private.calendar_feeds',
        'id created_at professional_id name detail',
        'id',
        'uuid',
        null
      ),
      (
        'private.api_keys',
        'id professional_id name access created_at expires_at last_used_on revoked_at',
        'id',
        'uuid',
        null
      ),
      (
        'private.busy_calendars',
        'id created_at professional_id name host status error error_detail last_synced_at
        failing_since told_at due_at read_at time_zone',
        'id',
        'uuid',
        null
      ),
      (
        'private.calendar_connections',
        'id created_at professional_id push busy status error last_synced_at busy_due_at
        paused_until pauses failing_since told_at',
        'id',
        'uuid',
        null
      ),
      (
        'private.busy_times',
        'professional_id source_id week during',
        'source_id || '' '' || week',
        'text',
        null
      ),
      (
        'private.calendar_pushes',
        'connection_id booking_id professional_id due_at revision attempts generation may_exist
        is_there error',
        'connection_id || '' '' || booking_id',
        'text',
        (select condition from of_booking)
      )
  )
  select
    source::regclass,
    regexp_split_to_array(columns, '\s+'),
    key,
    key_type::regtype,
    of_client
  from tables;
$$;

comment on function private.exports is
  'Tables in the order of an export, with the columns that are shown.';

create function private.export_rows(
  p_table private.export_table,
  p_professional_id uuid,
  p_client_id uuid,
  p_after text,
  p_count integer
)
returns table (key text, data jsonb)
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  -- Text in the order of its bytes, whatever the database's.
  v_key constant text := format(
    case p_table.key_type when 'text'::regtype then '(%s) collate "C"' else '%s' end, p_table.key
  );
  v_columns constant text := (
    select string_agg(
      format(
        case
          when a.atttypid in ('timestamptz'::regtype, 'public.timestamp_ms'::regtype)
            then '%L, private.timestamp_text(%I)'
          else '%L, %I'
        end,
        a.attname,
        a.attname
      ),
      ', '
    )
    from pg_catalog.pg_attribute a
    where a.attrelid = p_table.source and a.attname = any (p_table.columns)
  );
begin
  return query execute format(
    'select (%1$s)::text, jsonb_build_object(%2$s) from %3$s '
      'where %4$s = $1 and (%5$s) and (%6$s) order by %1$s limit $4',
    v_key,
    v_columns,
    p_table.source,
    case p_table.source
      when 'public.profiles'::regclass then 'id' else 'professional_id'
    end,
    case when p_client_id is null then 'true' else p_table.of_client end,
    case
      when p_after is null then 'true' else format('%s > $3::%s', v_key, p_table.key_type)
    end
  )
  using p_professional_id, p_client_id, p_after, p_count;
end;
$$;

comment on function private.export_rows is
  'Rows of a professional, or of one client, after a key and in its order; p_count null is all.';

create function private.export_name(p_table private.export_table)
returns text
language sql
stable
security invoker
set search_path = ''
as $$
  select relname from pg_catalog.pg_class where oid = p_table.source;
$$;

comment on function private.export_name is 'What a table is called in an export and in its cursor.';

-- Definer, like export_account: most of the tables are nobody's to read.
create function private.export_client(p_client_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_table private.export_table;
  v_data jsonb := '{}';
begin
  perform private.check_arguments(case when p_client_id is null then 'client_id' end);
  if not exists (
    select from public.clients where professional_id = v_professional_id and id = p_client_id
  ) then
    perform private.raise_not_found('client');
  end if;

  for v_table in select e.* from private.exports() e where e.of_client is not null loop
    v_data := v_data || jsonb_build_object(
      private.export_name(v_table),
      (
        select coalesce(jsonb_agg(r.data order by r.place), '[]')
        from private.export_rows(v_table, v_professional_id, p_client_id, null, null)
          with ordinality as r (key, data, place)
      )
    );
  end loop;
  return jsonb_build_object('exported_at', private.timestamp_text(now()), 'data', v_data);
end;
$$;

create function private.export_account(p_cursor text)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_professional_id constant uuid := private.caller_professional_id();
  v_name constant text := split_part(p_cursor, ':', 1);
  v_after text := substr(p_cursor, char_length(v_name) + 2);
  v_is_reached boolean := p_cursor is null;
  v_left integer := 500;
  v_table private.export_table;
  v_rows jsonb;
  v_last text;
  v_data jsonb := '{}';
  v_next_cursor text;
begin
  perform private.check_arguments(
    case
      when p_cursor is not null and (
        char_length(p_cursor) <= 1000 and exists (
          select
          from private.exports() e
          where private.export_name(e) = v_name
            and pg_input_is_valid(v_after, e.key_type::text)
        )
      ) is not true
      then 'cursor'
    end
  );

  for v_table in select e.* from private.exports() e loop
    v_is_reached := v_is_reached or private.export_name(v_table) = v_name;
    continue when not v_is_reached;

    select
      coalesce(jsonb_agg(r.data order by r.place), '[]'),
      (array_agg(r.key order by r.place desc))[1]
    into v_rows, v_last
    from private.export_rows(v_table, v_professional_id, null, v_after, v_left)
      with ordinality as r (key, data, place);

    v_after := null;
    v_left := v_left - jsonb_array_length(v_rows);
    if v_rows <> '[]' then
      v_data := v_data || jsonb_build_object(private.export_name(v_table), v_rows);
    end if;
    if v_left = 0 then
      v_next_cursor := private.export_name(v_table) || ':' || v_last;
      exit;
    end if;
  end loop;

  return jsonb_build_object(
    'exported_at', private.timestamp_text(now()), 'data', v_data, 'next_cursor', v_next_cursor
  ) || case
    when p_cursor is null then
      jsonb_build_object(
        'account',
        jsonb_build_object(
          'id', v_professional_id, 'email', private.owner_email(v_professional_id)
        )
      )
    else '{}'
  end;
end;
$$;

create function public.export_client(client_id uuid)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.export_client($1);
$$;

comment on function public.export_client is
  'Everything that is kept about a client of yours: {exported_at, data: {<table>: [rows]}}. Errors: 404 PGRST301; 422 validation_failed {"fields"}.';

create function public.export_account(cursor text default null)
returns jsonb
language sql
stable
security invoker
set search_path = ''
as $$
  select private.export_account($1);
$$;

comment on function public.export_account is
  'Everything that is kept of yours, 500 rows a page: {exported_at, account: {id, email}, data: {<table>: [rows]}, next_cursor}. A table with more rows goes on in the next page; account is in the first. Errors: 422 validation_failed {"fields"} for a cursor that none of these pages gave.';

grant execute on function
  public.export_client (uuid),
  private.export_client (uuid),
  public.export_account (text),
  private.export_account (text)
to authenticated;

select private.hand_over('export_client', 'export_account');
