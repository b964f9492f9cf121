-- What brought people, what they bought, and how much they have to do with us. Analysts read the views below (docs/analytics.md).

-- All touches of a browser, as the shipper sends them, oldest first; the highest revision wins, whatever the order of arrival.
create table if not exists visitor_touches (
  business_id UUID,
  visitor_id String,
  revision Int64,
  erased UInt8,
  at_ms Array(Int64),
  -- Beside each other; empty text is what was not said.
  url Array(String),
  referrer Array(String),
  source Array(String),
  medium Array(String),
  campaign Array(String),
  term Array(String),
  content Array(String),
  utm_id Array(String),
  gclid Array(String),
  gbraid Array(String),
  wbraid Array(String),
  fbclid Array(String),
  msclkid Array(String),
  ttclid Array(String)
) engine = ReplacingMergeTree(revision)
order by (business_id, visitor_id)
settings fsync_after_insert = 1, fsync_part_directory = 1;

-- Each touch, with the contact whose browser it was (null: nobody's yet) and its channel.
create or replace view touches as
select
  t.business_id as business_id,
  t.visitor_id as visitor_id,
  coalesce(r.survivor_id, t.linked_to) as contact_id,
  fromUnixTimestamp64Milli(t.at_ms, 'UTC') as touched_at,
  t.channel as channel,
  t.source as source,
  t.medium as medium,
  t.campaign as campaign,
  t.term as term,
  t.content as content,
  t.utm_id as utm_id,
  t.referrer as referrer,
  t.url as landing_url,
  t.click_id as click_id,
  t.at_ms as at_ms
from (
  select
    s.*,
    if(ifNull(l.visitor_id, '') = '' or l.erased = 1, null, l.contact_id) as linked_to
  from (
    select
      business_id, visitor_id, at_ms, url, referrer, medium, campaign, term, content, utm_id,
      replaceRegexpOne(
        extract(lower(referrer), '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#]*@)?(\\[[^\\]/?#]*\\]|[^:/?#]*)'), '^www\\.', '') as referrer_host,
      if(utm_source != '', utm_source, referrer_host) as source,
      multiIf(gclid != '', 'gclid', gbraid != '', 'gbraid', wbraid != '', 'wbraid', msclkid != '', 'msclkid',
        ttclid != '', 'ttclid', fbclid != '', 'fbclid', '') as click_id,
      trimBoth(lower(utm_source)) as named,
      trimBoth(lower(source)) as origin,
      trimBoth(lower(medium)) as kind,
      -- A search engine by its name or host, but not what else it offers under its name.
      match(origin, '(^|\\.)(google|bing|yahoo|duckduckgo|yandex|baidu|ecosia|startpage|qwant|naver|seznam|ask|aol|kagi|sogou)(\\.(com?|org|net|[a-z]{2})(\\.[a-z]{2})?)?$|^(search\\.brave\\.com|ya\\.ru|com\\.google\\.android\\.googlequicksearchbox)$')
        and not match(origin, '^(mail|outlook|accounts|login|docs|drive|calendar|meet|chat|groups|sites|news|play|translate)\\.') as is_search,
      match(origin, '(^|\\.)(facebook|instagram|messenger|threads|twitter|linkedin|pinterest|reddit|tiktok|snapchat|youtube|tumblr|quora|discord|telegram|whatsapp|weibo|vk|bluesky|mastodon)(\\.(com?|org|net|me|social|[a-z]{2})(\\.[a-z]{2})?)?$|^(fb(\\.com|\\.me)?|ig|x(\\.com)?|t\\.co|lnkd\\.in|youtu\\.be|t\\.me|wa\\.me|bsky\\.app)$|^com\\.(facebook|instagram|linkedin|pinterest|reddit)\\.') as is_social,
      match(kind, '^(.*cp.*|ppc|retargeting|paid.*)$') as is_paid,
      multiIf(
        kind in ('display', 'banner', 'expandable', 'interstitial'), 'display',
        gclid != '' or gbraid != '' or wbraid != '' or msclkid != '', 'paid_search',
        match(kind, '^paid.?search$') or (is_paid and is_search), 'paid_search',
        ttclid != '' or match(kind, '^paid.?social$') or (is_paid and (is_social or fbclid != '')), 'paid_social',
        kind = 'cpm', 'display',
        is_paid, 'paid_other',
        named in ('email', 'e-mail', 'e_mail', 'e mail') or kind in ('email', 'e-mail', 'e_mail', 'e mail'), 'email',
        named = 'sms' or kind = 'sms', 'sms',
        kind in ('affiliate', 'affiliates'), 'affiliate',
        is_social or kind in ('social', 'social-network', 'social-media', 'sm', 'social network', 'social media'), 'organic_social',
        is_search or kind = 'organic', 'organic_search',
        kind in ('referral', 'app', 'link'), 'referral',
        (named not in ('', 'direct', '(direct)')) or kind not in ('', '(none)', '(not set)')
          or campaign != '' or term != '' or content != '' or utm_id != '', 'campaign',
        fbclid != '', 'organic_social',
        referrer != '', 'referral',
        'direct'
      ) as channel
    from (
      select * except (revision, erased, source), source as utm_source
      from (select * from visitor_touches final where erased = 0)
      array join at_ms, url, referrer, source, medium, campaign, term, content, utm_id, gclid, gbraid, wbraid, fbclid,
        msclkid, ttclid
    )
  ) as s
  asof left join (select * from visitor_links final) as l
    on l.business_id = s.business_id and l.visitor_id = s.visitor_id and s.at_ms >= l.from_ms
) as t
left join (select * from contact_redirects final) as r
  on r.business_id = t.business_id and r.contact_id = t.linked_to
where ifNull(r.erased, 0) = 0;

-- Every order and amount that counted, with what brought the person: the first touch and the last one at or before it. A
-- refund goes where the latest purchase before it went (of that person and currency), and without one by its own time.
create or replace view attributed_purchases as
with
  paid as (
    select business_id, contact_id, event_id, event, occurred_at, type, ifNull(currency, '') as currency,
      counted_revenue as amount, is_order, occurred_ms
    from timeline
    where type in ('purchase', 'refund') and (counted_revenue != 0 or is_order = 1)
  ),
  theirs as (
    select * except (contact_id), assumeNotNull(contact_id) as person from touches where contact_id is not null
  )
select
  p.business_id as business_id,
  p.contact_id as contact_id,
  p.event_id as event_id,
  p.event as event,
  p.occurred_at as occurred_at,
  p.type as type,
  p.currency as currency,
  p.amount as amount,
  p.is_order as is_order,
  if(f.channel = '', null, f.touched_at) as first_at,
  if(f.channel = '', 'unknown', f.channel) as first_channel,
  f.source as first_source,
  f.medium as first_medium,
  f.campaign as first_campaign,
  f.referrer as first_referrer,
  f.landing_url as first_landing_url,
  f.click_id as first_click_id,
  if(l.channel = '', null, l.touched_at) as last_at,
  if(l.channel = '', 'unknown', l.channel) as last_channel,
  l.source as last_source,
  l.medium as last_medium,
  l.campaign as last_campaign,
  l.referrer as last_referrer,
  l.landing_url as last_landing_url,
  l.click_id as last_click_id,
  p.occurred_ms as occurred_ms
from (
  select o.*, if(o.type = 'refund' and b.is_found = 1, b.occurred_ms, o.occurred_ms) as credit_ms
  from paid as o
  asof left join (select business_id, contact_id, currency, occurred_ms, 1 as is_found from paid where type = 'purchase') as b
    on b.business_id = o.business_id and b.contact_id = o.contact_id and b.currency = o.currency
      and o.occurred_ms >= b.occurred_ms
) as p
asof left join (select * from theirs order by at_ms, visitor_id, landing_url limit 1 by business_id, person) as f
  on f.business_id = p.business_id and f.person = p.contact_id and p.credit_ms >= f.at_ms
asof left join (select * from theirs order by at_ms, visitor_id, landing_url limit 1 by business_id, person, at_ms) as l
  on l.business_id = p.business_id and l.person = p.contact_id and p.credit_ms >= l.at_ms
settings join_use_nulls = 0;

-- Per UTC day on which an amount counted, for each of the two models.
create or replace view attribution_by_day as
select
  business_id,
  model,
  toDate32(occurred_at) as day,
  if(model = 'first', first_channel, last_channel) as channel,
  if(model = 'first', first_source, last_source) as source,
  if(model = 'first', first_medium, last_medium) as medium,
  if(model = 'first', first_campaign, last_campaign) as campaign,
  currency,
  sum(amount) as revenue,
  -sumIf(amount, type = 'refund') as refunded,
  countIf(is_order = 1) as orders,
  uniqExactIf(contact_id, type = 'purchase') as buyers
from attributed_purchases
array join ['first', 'last'] as model
group by business_id, model, day, channel, source, medium, campaign, currency;

-- How much each person has to do with the business, as of now: every deliberate event is 5 points, every page view 1, every
-- minute of active time 1; a point is worth half after 14 days. The score is 0 to 100: of 20 points 50, of 40 points 75.
create or replace view contact_engagement as
select
  business_id,
  contact_id,
  toUInt8(round(100 * (1 - exp2(-sum(points * exp2(-greatest(0, toUnixTimestamp64Milli(now64(3)) - at_ms) / 1209600000)) / 20)))) as score,
  fromUnixTimestamp64Milli(greatest(-2208988800000, least(max(at_ms), 10413791999999)), 'UTC') as last_active_at,
  max(at_ms) as last_active_ms
from (
  select business_id, contact_id, occurred_ms as at_ms, toFloat64(5) as points from timeline
  union all
  select h.business_id, assumeNotNull(h.contact_id), h.end_ms, if(h.kind = 'page_view', 1, h.active_ms / 60000)
  from web_hits as h
  where h.contact_id is not null and (h.kind = 'page_view' or h.active_ms > 0)
)
group by business_id, contact_id;
