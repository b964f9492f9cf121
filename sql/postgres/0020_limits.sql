-- Campaigns so far (at most 1,000: campaigns/create-campaign.ts), so that two that are drafted at once cannot pass the limit.
alter table businesses add column campaign_count integer not null default 0;
update businesses b set campaign_count = (select count(*) from campaigns c where c.business_id = b.id);

-- The rules limit what a contact holds (rules/limits.ts). A check would fail everything that is saved beside it.
alter table contacts drop constraint contacts_check;
