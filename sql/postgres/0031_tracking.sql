-- Whether the events `email_opened` and `email_clicked` of a message were recorded: reports count these messages.
alter table messages add column opened boolean not null default false;
alter table messages add column clicked boolean not null default false;
