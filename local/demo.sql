-- Moves the demo of supabase/seed.sql along with the calendar, by whole weeks and by the clock of the
-- professional: what is over lies in the week up to yesterday, what is to come begins today, and the two bookings
-- to try things with (4x) a week later. Rows are known by their ids, so nobody's own are touched, and one that
-- somebody has moved further ahead stays there. Triggers are off: nothing happened that anybody should hear of.

set local session_replication_role = replica;

do $$
declare
  v_row record;
begin
  for v_row in
    select
      b.*,
      b.status in ('pending', 'confirmed') as is_live,
      p.time_zone as zone,
      7 * case
        when b.status in ('pending', 'confirmed')
          then greatest(0, t.day + (case when b.id::text like '%4_' then 7 else 0 end) - d.day + 6) / 7
        else greatest(0, t.day - 1 - d.day) / 7
      end as days
    from public.bookings b
    join public.profiles p on p.id = b.professional_id
    cross join lateral (select (now() at time zone p.time_zone)::date as day) as t
    cross join lateral (select (b.starts_at at time zone p.time_zone)::date as day) as d
    where b.id::text similar to 'a0000000-0000-4000-8000-0000000000[46789]_'
  loop
    update public.bookings b
    set
      starts_at = n.starts_at,
      ends_at = n.starts_at + (b.ends_at - b.starts_at),
      created_at = least(now(), b.created_at + make_interval(days => v_row.days)),
      updated_at = least(now(), b.updated_at + make_interval(days => v_row.days)),
      cancelled_at = least(now(), b.cancelled_at + make_interval(days => v_row.days))
    from (
      select
        (v_row.starts_at at time zone v_row.zone + make_interval(days => v_row.days))
          at time zone v_row.zone as starts_at
    ) as n
    where b.id = v_row.id
      and v_row.days > 0
      -- The constraint looks by a trigger, and those are off. What somebody has booked there stays.
      and not (
        v_row.is_live
        and exists (
          select from public.bookings o
          where o.professional_id = b.professional_id
            and o.id <> b.id
            and o.status in ('pending', 'confirmed')
            and private.blocked_range(o.starts_at, o.ends_at, o.buffer_before, o.buffer_after)
              && private.blocked_range(
                n.starts_at,
                n.starts_at + (b.ends_at - b.starts_at),
                b.buffer_before,
                b.buffer_after
              )
        )
      );
  end loop;
end;
$$;

with due as (
  select o.id, make_interval(days => 7 * ((now()::date - 1 - o.created_at::date) / 7)) as later
  from public.orders o
  where o.id::text like 'a0000000-0000-4000-8000-00000000005_' and now()::date - 1 - o.created_at::date >= 7
), paid as (
  update private.payments p
  set created_at = least(now(), p.created_at + due.later)
  from due
  where p.order_id = due.id
)
update public.orders o
set
  created_at = least(now(), o.created_at + due.later),
  updated_at = least(now(), o.updated_at + due.later)
from due
where o.id = due.id;
