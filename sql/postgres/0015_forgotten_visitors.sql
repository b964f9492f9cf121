-- Beside `visitor_ids`: of a visitor who was forgotten the revision that marks it, past all that ClickHouse has of them and
-- below whatever comes after; null of all others, whose present state is the news.
alter table outbox add column visitor_forgotten bigint[] not null default '{}';
