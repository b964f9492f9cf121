-- A visitor whose link waits for a keyed call is not forgotten (src/timeline/forget-visitors.ts).
drop index visitors_of_nobody;
create index visitors_of_nobody on visitors (last_seen_at)
  where contact_id is null and current_contact_id is null and not waits;
