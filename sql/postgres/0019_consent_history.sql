-- Every recorded choice of consent, oldest and newest: `subscriptions` has the latest of each channel.

create table consent_history (
  business_id uuid not null,
  contact_id uuid not null,
  id bigint generated always as identity,
  channel text not null check (channel in ('email', 'sms', 'whatsapp', 'push')),
  subscribed boolean not null,
  method text not null,
  recorded_at bigint not null,
  primary key (business_id, contact_id, id)
);

insert into consent_history (business_id, contact_id, channel, subscribed, method, recorded_at)
  select business_id, contact_id, channel, subscribed, method, recorded_at from subscriptions order by recorded_at;
