-- Clients that were made for a hold. A hold is nobody's news, and who typed their address may be
-- anybody; so the event that a client was made comes with the first one that has to do with them.

create table private.unheard_clients (
  professional_id uuid not null references public.profiles (id) on delete cascade,
  client_id uuid not null,
  primary key (professional_id, client_id),
  constraint unheard_clients_professional_id_client_id_fkey
    foreign key (professional_id, client_id) references public.clients (professional_id, id)
    on delete cascade
);

create function private.is_first_heard_of(p_professional_id uuid, p_client_id uuid)
returns boolean
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  delete from private.unheard_clients
  where professional_id = p_professional_id and client_id = p_client_id;
  return found;
end;
$$;

comment on function private.is_first_heard_of is
  'Whether this client was made for a hold and no event has told of it; the one that does is the caller''s to write now.';

alter table private.unheard_clients enable row level security;

grant select, insert, delete on private.unheard_clients to rules;

create policy unheard_clients_all_rules on private.unheard_clients
  for all to rules
  using (true)
  with check (true);

comment on table private.unheard_clients is
  'Clients that were made for a hold, of whom no event has told yet. Only of professionals with a webhook endpoint.';
