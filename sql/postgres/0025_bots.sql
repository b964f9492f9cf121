-- What becomes of the events that bots and headless browsers send from a business's pages.

alter table businesses
  add column bots text not null default 'ignore' check (bots in ('ignore', 'allow'));
