-- The shape of working hours: `{"weekly": {"mon": [["09:00", "17:00"]], …}, "overrides":
-- {"2027-12-25": []}}`, local times of the professional's zone. An end at or before its start is on
-- the next day; an override replaces its whole date, what spills over from the evening before
-- included.
--
-- Times of this shape compare as texts in every collation. Their patterns say [0-9]: where ICU
-- orders texts, as hosted, `\d` is the digits of every script.

create function private.day_windows_problem(p_windows jsonb)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_window jsonb;
  v_start text;
  v_end text;
  v_previous_end text := '00:00';
begin
  if jsonb_typeof(p_windows) <> 'array' or jsonb_array_length(p_windows) > 12 then
    return 'must be a list of at most 12 windows';
  end if;

  for v_window in select value from jsonb_array_elements(p_windows) loop
    if jsonb_typeof(v_window) <> 'array' or jsonb_array_length(v_window) <> 2 then
      return 'each window must be ["HH:MM", "HH:MM"]';
    end if;
    v_start := v_window ->> 0;
    v_end := v_window ->> 1;
    if jsonb_typeof(v_window -> 0) <> 'string' or v_start !~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' then
      return 'a start must be "00:00" to "23:59"';
    end if;
    if jsonb_typeof(v_window -> 1) <> 'string'
      or v_end !~ '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$'
    then
      return 'an end must be "00:00" to "24:00"';
    end if;
    if v_start < v_previous_end then
      return 'windows must be in order and must not overlap';
    end if;
    -- An end at or before the start is on the next day, so nothing can follow.
    v_previous_end := case when v_end <= v_start then '25:00' else v_end end;
  end loop;
  return null;
end;
$$;

comment on function private.day_windows_problem is
  'What is wrong with one day''s windows [["09:00","12:30"], …]; null when nothing is.';

-- The time until which the last window of a day reaches into the next one; null when it does not.
create function private.spill_over(p_windows jsonb)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select p_windows -> -1 ->> 1
  where p_windows -> -1 ->> 1 <= p_windows -> -1 ->> 0 and p_windows -> -1 ->> 1 > '00:00';
$$;

comment on function private.spill_over is
  'End of a window that crosses midnight, as local time of the next day; null without one.';

create function private.availability_problem(p_availability jsonb)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
declare
  v_days constant text[] := array['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  v_weekly jsonb := p_availability -> 'weekly';
  v_overrides jsonb := coalesce(p_availability -> 'overrides', '{}');
  v_key text;
  v_windows jsonb;
  v_problem text;
  v_next text;
begin
  if jsonb_typeof(p_availability) <> 'object'
    or p_availability - array['weekly', 'overrides'] <> '{}'
    or jsonb_typeof(v_weekly) is distinct from 'object'
    or jsonb_typeof(v_overrides) <> 'object'
  then
    return 'must be {"weekly": {…}, "overrides": {…}}';
  end if;
  if v_weekly - v_days <> '{}' then
    return 'weekly: days are mon, tue, wed, thu, fri, sat, sun';
  end if;
  if (select count(*) > 1000 from jsonb_object_keys(v_overrides)) then
    return 'overrides: at most 1000 dates';
  end if;

  for v_key, v_windows in select key, value from jsonb_each(v_weekly) loop
    v_problem := private.day_windows_problem(v_windows);
    if v_problem is not null then
      return format('weekly.%s: %s', v_key, v_problem);
    end if;
  end loop;

  for v_key, v_windows in select key, value from jsonb_each(v_overrides) loop
    if v_key !~ '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$' or not pg_input_is_valid(v_key, 'date') then
      return format('overrides: %s is not a date YYYY-MM-DD', left(v_key, 20));
    end if;
    v_problem := private.day_windows_problem(v_windows);
    if v_problem is not null then
      return format('overrides.%s: %s', v_key, v_problem);
    end if;
  end loop;

  for v_key, v_windows in select key, value from jsonb_each(v_weekly) loop
    v_next := v_days[array_position(v_days, v_key) % 7 + 1];
    if private.spill_over(v_windows) > v_weekly -> v_next -> 0 ->> 0 then
      return format('weekly.%s: runs into the first window of %s', v_key, v_next);
    end if;
  end loop;

  for v_key, v_windows in select key, value from jsonb_each(v_overrides) loop
    v_next := to_char(v_key::date + interval '1 day', 'YYYY-MM-DD');
    if not v_overrides ? v_next
      and private.spill_over(v_windows)
        > v_weekly -> v_days[extract(isodow from v_next::date)::integer] -> 0 ->> 0
    then
      return format('overrides.%s: runs into the first window of the next day', v_key);
    end if;
  end loop;
  return null;
end;
$$;

comment on function private.availability_problem is
  'What is wrong with working hours {"weekly": {"mon": [["09:00","17:00"]]}, "overrides": {"2027-12-25": []}}; null when nothing is. An end at or before its start is on the next day.';

-- Check constraints run with the rights of whoever writes the row.
grant execute on function private.availability_problem (jsonb) to authenticated, service_role;

grant execute on function private.day_windows_problem (jsonb) to authenticated, service_role;

grant execute on function private.spill_over (jsonb) to authenticated, service_role;
