-- The Redis process that the road was last opened on. One that is new here may know less than the one before it.
alter table partitioning add column redis_run text;
