-- When professionals are busy elsewhere, by the calendars they have connected. Only busy_time()
-- (slots.sql) reads it: it decides which starts are offered, and never what the professional does.

create table private.busy_times (
  professional_id uuid not null references public.profiles (id) on delete cascade,
  -- The calendar it was read in. Of several kinds, so without a foreign key: each kind's table has
  -- the trigger below.
  source_id uuid not null,
  during tstzrange not null
    constraint busy_times_during_has_two_ends
      check (
        not isempty(during)
        and lower_inc(during)
        and not upper_inc(during)
        and not lower_inf(during)
        and not upper_inf(during)
        and isfinite(lower(during))
        and isfinite(upper(during))
      ),
  primary key (source_id, during)
);

create index busy_times_professional_id_during_idx
  on private.busy_times using gist (professional_id, during);

-- One statement, so that nobody sees a calendar half replaced, and only what differs is written:
-- most readings change nothing. Without the write lock: who books meanwhile saw what was known.
create function private.replace_busy_times(
  p_professional_id uuid,
  p_source_id uuid,
  p_ranges jsonb
)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  with wanted as (
    select distinct tstzrange(r.start, r."end") as during
    from jsonb_to_recordset(p_ranges) as r (start timestamptz, "end" timestamptz)
  ),
  gone as (
    delete from private.busy_times b
    where b.source_id = p_source_id
      and not exists (select from wanted w where w.during = b.during)
  )
  insert into private.busy_times (professional_id, source_id, during)
  select p_professional_id, p_source_id, w.during
  from wanted w
  where not exists (
    select from private.busy_times b where b.source_id = p_source_id and b.during = w.during
  );
$$;

comment on function private.replace_busy_times is
  'Makes [{start, end}] all that is busy by one calendar. Its caller has locked the calendar''s row.';

create function private.forget_busy_times()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  delete from private.busy_times where source_id = old.id;
  return null;
end;
$$;

comment on function private.forget_busy_times is
  'AFTER DELETE of a calendar: what it blocked is free.';

create trigger busy_calendars_forget_busy_times
  after delete on private.busy_calendars
  for each row execute function private.forget_busy_times();

alter table private.busy_times enable row level security;

grant select, insert, delete on private.busy_times to rules;

create policy busy_times_all_rules on private.busy_times
  for all to rules
  using (true)
  with check (true);

comment on table private.busy_times is
  'Merged ranges from each connected calendar, up to 400 days ahead: no titles, places or people.';

select private.hand_over('forget_busy_times');
