-- Rows are written again and again as small parts are merged into large ones. Ten of a size become one, not five: fewer
-- rounds for each row, for a few parts more to read.
alter table events modify setting merge_selector_base = 10;
alter table event_statistics modify setting merge_selector_base = 10;
alter table contact_snapshots modify setting merge_selector_base = 10;
