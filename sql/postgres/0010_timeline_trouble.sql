-- Why the timeline is not shipped now, told by whoever has the lease: front doors name it in /readyz.
alter table timeline_lease
  add column trouble text,
  add column trouble_since timestamptz;
