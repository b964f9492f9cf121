-- A campaign can start with what a browser captures by itself: a page view, how far it is scrolled, how long it is looked at.
alter table campaigns add column trigger_web text check (trigger_web in ('page_view', 'scroll_depth', 'active_time'));
alter table campaigns drop constraint one_trigger;
alter table campaigns add constraint one_trigger check (
  num_nonnulls(trigger_event, trigger_segment, trigger_web) = 1 and (trigger_segment is null) = (trigger_on is null)
);
alter table campaigns drop constraint conditions_on_events;
alter table campaigns add constraint conditions_on_events check (
  trigger_event is not null or (trigger_sources is null and (trigger_web is not null or trigger_where is null))
);
-- Front doors look for them with the settings of a business.
create index campaigns_by_web on campaigns (business_id) where trigger_web is not null and status = 'published';
