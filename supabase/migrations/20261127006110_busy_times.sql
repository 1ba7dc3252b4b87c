-- When professionals are busy elsewhere, by the calendars they have connected. Only busy_time()
-- (slots.sql) reads it: it decides which starts are offered, and never what the professional does.

-- A row for seven days of a calendar, since a month of ranges of their own takes longer to look up
-- than all the rest of its slots.
create table private.busy_times (
  professional_id uuid not null references public.profiles (id) on delete cascade,
  -- The calendar it was read in. Of several kinds, so without a foreign key: each kind's table has
  -- the trigger below.
  source_id uuid not null,
  -- When the seven days begin, counted from 1970.
  week timestamptz not null
    constraint busy_times_week_is_seven_days_after_another
      check (week = date_bin('168 hours', week, 'epoch')),
  during tstzmultirange not null
    constraint busy_times_during_is_in_its_week
      check (
        not isempty(during)
        and during <@ tstzrange(week, week + interval '168 hours')
        and not upper_inc(during)
      ),
  primary key (source_id, week)
);

create index busy_times_professional_id_week_idx on private.busy_times (professional_id, week);

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
    select
      w.week,
      range_agg(
        tstzrange(greatest(r.start, w.week), least(r."end", w.week + interval '168 hours'))
      ) as during
    from jsonb_to_recordset(p_ranges) as r (start timestamptz, "end" timestamptz)
    cross join lateral generate_series(
      date_bin('168 hours', r.start, 'epoch'), r."end", '168 hours'
    ) as w (week)
    where greatest(r.start, w.week) < r."end"
    group by w.week
  ),
  gone as (
    delete from private.busy_times b
    where b.source_id = p_source_id
      and not exists (select from wanted w where w.week = b.week)
  )
  insert into private.busy_times as b (professional_id, source_id, week, during)
  select p_professional_id, p_source_id, w.week, w.during
  from wanted w
  on conflict (source_id, week) do update
  set during = excluded.during
  where b.during <> excluded.during;
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

grant select, insert, update (during), delete on private.busy_times to rules;

create policy busy_times_all_rules on private.busy_times
  for all to rules
  using (true)
  with check (true);

comment on table private.busy_times is
  'Merged ranges from each connected calendar, up to 400 days ahead: no titles, places or people.';

select private.hand_over('forget_busy_times');
