-- Browsers, as the shipper sends them; the highest revision wins, whatever the order of arrival. Empty text is what was not
-- said. Both are joined with people through `contact_redirects`, as everything is.

-- Whose a browser was from when on (from 0: before anybody was known); the contact may have been merged since.
create table if not exists visitor_links (
  business_id UUID,
  visitor_id String,
  from_ms Int64,
  contact_id UUID,
  revision Int64,
  erased UInt8
) engine = ReplacingMergeTree(revision)
order by (business_id, visitor_id, from_ms)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- When a browser was seen, and how it came: the first time, and the latest time that something brought it.
create table if not exists visitors (
  business_id UUID,
  visitor_id String,
  revision Int64,
  erased UInt8,
  -- Null while no page with the tag has reported the browser.
  first_seen_ms Nullable(Int64),
  last_seen_ms Nullable(Int64),
  first_at_ms Nullable(Int64),
  first_url String,
  first_referrer String,
  first_source String,
  first_medium String,
  first_campaign String,
  first_term String,
  first_content String,
  first_utm_id String,
  first_gclid String,
  first_gbraid String,
  first_wbraid String,
  first_fbclid String,
  first_msclkid String,
  first_ttclid String,
  latest_at_ms Nullable(Int64),
  latest_url String,
  latest_referrer String,
  latest_source String,
  latest_medium String,
  latest_campaign String,
  latest_term String,
  latest_content String,
  latest_utm_id String,
  latest_gclid String,
  latest_gbraid String,
  latest_wbraid String,
  latest_fbclid String,
  latest_msclkid String,
  latest_ttclid String
) engine = ReplacingMergeTree(revision)
order by (business_id, visitor_id)
settings fsync_after_insert = 1, fsync_part_directory = 1;
