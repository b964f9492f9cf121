-- When parts become a larger one, that one is not brought to the disk at once. What it replaces stays for as long as a
-- ClickHouse server keeps it unless told otherwise; the embedded engine would delete it within half a minute.
alter table events modify setting old_parts_lifetime = 480;
alter table event_statistics modify setting old_parts_lifetime = 480;
alter table contact_snapshots modify setting old_parts_lifetime = 480;
alter table contact_redirects modify setting old_parts_lifetime = 480;
alter table visitor_links modify setting old_parts_lifetime = 480;
alter table visitors modify setting old_parts_lifetime = 480;
alter table web_events modify setting old_parts_lifetime = 480;
alter table visitor_touches modify setting old_parts_lifetime = 480;
