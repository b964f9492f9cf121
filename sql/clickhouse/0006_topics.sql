-- Segments read the choices of topics.
alter table contact_snapshots add column if not exists topics Map(LowCardinality(String), Bool)
  comment 'The choices of topics: the topic, a space and the channel, such as news email';
