-- Names that columns refer to: currencies, time zones and tiers. Behind foreign keys, so that no
-- code has to check them.

create table private.currencies (
  code text primary key
    constraint currencies_code_is_three_capitals check (code ~ '^[A-Z]{3}$'),
  minor_units smallint not null
    constraint currencies_minor_units_are_0_to_3 check (minor_units between 0 and 3)
);

create table private.time_zones (
  name text primary key
);

-- Specification, Limits.
create table private.tiers (
  name text primary key,
  requests_per_minute integer not null
    constraint tiers_requests_per_minute_is_positive check (requests_per_minute > 0),
  concurrent_requests integer not null
    constraint tiers_concurrent_requests_is_positive check (concurrent_requests > 0),
  mails_per_day integer not null
    constraint tiers_mails_per_day_is_positive check (mails_per_day > 0)
);

-- A POSIX string such as `GMT+2` is not in the list; Postgres would read it with the opposite sign.
-- Nor are CET and its like: an abbreviation of that name comes first, which has no summer time.
create function private.time_zone_names()
returns setof text
language sql
stable
security invoker
set search_path = ''
as $$
  select z.name
  from pg_catalog.pg_timezone_names z
  where z.name !~ '^(posix|right)/'
    and z.name not in ('Factory', 'localtime', 'posixrules')
    and (
      z.name in ('UTC', 'GMT') -- the same, read either way
      or upper(z.name) not in (select abbrev from pg_catalog.pg_timezone_abbrevs)
    );
$$;

comment on function private.time_zone_names is
  'Time zones that this server computes with when it is given their names.';

-- ISO 4217, active codes of circulating money. Units of account with four decimals (CLF, UYW) and
-- metals are left out on purpose: nobody charges a haircut in them.
insert into private.currencies (code, minor_units)
select code, 2
from unnest(string_to_array(
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD '
  'CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD '
  'HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD '
  'MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON '
  'RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD '
  'TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG',
  ' '
)) as code
union all
select code, 0
from unnest(string_to_array(
  'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF', ' '
)) as code
union all
select code, 3
from unnest(string_to_array('BHD IQD JOD KWD LYD OMR TND', ' ')) as code;

insert into private.time_zones (name)
select private.time_zone_names();

insert into private.tiers (name, requests_per_minute, concurrent_requests, mails_per_day)
values
  ('free', 60, 5, 200),
  ('plus', 300, 20, 600),
  ('pro', 1000, 50, 2000),
  ('max', 5000, 100, 10000),
  ('ultra', 10000, 200, 20000);

alter table private.currencies enable row level security;

grant select on private.currencies to rules;

create policy currencies_all_rules on private.currencies
  for all to rules
  using (true)
  with check (true);

alter table private.time_zones enable row level security;

alter table private.tiers enable row level security;

grant select on private.tiers to rules;

create policy tiers_all_rules on private.tiers
  for all to rules
  using (true)
  with check (true);

comment on table private.currencies is
  'ISO 4217 codes with their minor units: 0 (JPY), 2 (EUR) or 3 (KWD) decimals.';

comment on table private.time_zones is
  'IANA time zone names that this database can compute with; those of time_zone_names(), kept up by cleanup().';

comment on table private.tiers is
  'What a professional''s plan allows: requests a minute, requests at the same time, and mails to clients a day.';
