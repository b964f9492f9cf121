-- Views of what browsers captured and of what brought them, and what these say of contacts. As in 0002_contact_views.sql, an erased
-- person appears in none of them.

-- Each hit once, with the contact that the browser belonged to (null: none yet). A time counts from its start.
create or replace view web_hits as
select
  h.business_id as business_id,
  h.visitor_id as visitor_id,
  coalesce(r.survivor_id, h.linked_to) as contact_id,
  h.hit_id as hit_id,
  h.kind as kind,
  h.page_id as page_id,
  fromUnixTimestamp64Milli(h.occurred_ms, 'UTC') as occurred_at,
  h.url as url,
  -- domain() finds no host without a full stop, such as localhost.
  extract(h.url, '^[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/?#]*@)?(\\[[^\\]/?#]*\\]|[^:/?#]*)') as host,
  -- An app may keep its routes in the fragment. Each route is a page.
  concat(path(h.url), replaceRegexpOne(extract(fragment(h.url), '^!?/[^?]*'), '^(.)', '#\\1')) as path,
  h.title as title,
  h.referrer as referrer,
  h.depth as depth,
  h.active_ms as active_ms,
  h.idle_ms as idle_ms,
  h.occurred_ms as occurred_ms,
  if(h.kind = 'time', h.occurred_ms - h.active_ms - h.idle_ms, h.occurred_ms) as start_ms,
  if(h.kind = 'time', h.occurred_ms - h.idle_ms, h.occurred_ms) as end_ms,
  -- From when on the browser belonged to that contact.
  h.linked_ms as linked_ms
from (
  select
    e.*,
    if(ifNull(l.visitor_id, '') = '' or l.erased = 1, null, l.contact_id) as linked_to,
    ifNull(l.from_ms, 0) as linked_ms
  from (select * from web_events final) as e
  asof left join (select * from visitor_links final) as l
    on l.business_id = e.business_id and l.visitor_id = e.visitor_id and e.occurred_ms >= l.from_ms
) as h
left join (select * from contact_redirects final) as r
  on r.business_id = h.business_id and r.contact_id = h.linked_to
where ifNull(r.erased, 0) = 0;

-- One row per page view, with the active time and the depth reported so far.
create or replace view web_page_views as
select
  business_id,
  visitor_id,
  page_id,
  tupleElement(argMinIf(tuple(contact_id), (occurred_ms, hit_id), kind = 'page_view'), 1) as contact_id,
  fromUnixTimestamp64Milli(minIf(occurred_ms, kind = 'page_view'), 'UTC') as viewed_at,
  argMinIf(url, (occurred_ms, hit_id), kind = 'page_view') as url,
  argMinIf(host, (occurred_ms, hit_id), kind = 'page_view') as host,
  argMinIf(path, (occurred_ms, hit_id), kind = 'page_view') as path,
  argMinIf(title, (occurred_ms, hit_id), kind = 'page_view') as title,
  argMinIf(referrer, (occurred_ms, hit_id), kind = 'page_view') as referrer,
  sum(active_ms) as active_ms,
  sum(idle_ms) as idle_ms,
  max(depth) as depth
from web_hits
group by business_id, visitor_id, page_id
having countIf(kind = 'page_view') > 0;

-- One row per session: what one browser did for one contact without a pause of 30 minutes. Sessions are computed when they are
-- read, so the order in which hits arrive does not matter.
create or replace view web_sessions as
select
  business_id,
  visitor_id,
  any(contact_id) as contact_id,
  fromUnixTimestamp64Milli(min(start_ms), 'UTC') as started_at,
  fromUnixTimestamp64Milli(max(end_ms), 'UTC') as ended_at,
  uniqExactIf(page_id, kind = 'page_view') as pages,
  -- A session without a page view is a return to a page that was still open.
  if(pages > 0, argMinIf(url, (occurred_ms, hit_id), kind = 'page_view'), argMin(url, (start_ms, hit_id))) as entry_url,
  if(pages > 0, argMaxIf(url, (occurred_ms, hit_id), kind = 'page_view'), argMax(url, (start_ms, hit_id))) as exit_url,
  sum(active_ms) as active_ms,
  sum(idle_ms) as idle_ms,
  argMinIf(referrer, (occurred_ms, hit_id), kind = 'page_view') as referrer,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_source')) as utm_source,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_medium')) as utm_medium,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_campaign')) as utm_campaign,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_term')) as utm_term,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_content')) as utm_content,
  decodeURLFormComponent(extractURLParameter(entry_url, 'utm_id')) as utm_id
from (
  select *, sum(begins) over (
    partition by business_id, visitor_id, linked_ms order by start_ms, hit_id
    rows between unbounded preceding and current row
  ) as session
  from (
    select *, start_ms - max(end_ms) over (
      partition by business_id, visitor_id, linked_ms order by start_ms, hit_id
      rows between unbounded preceding and 1 preceding
    ) >= 1800000 as begins
    from web_hits
  )
)
group by business_id, visitor_id, linked_ms, session;

-- Each touch, with the contact that the browser belonged to (null: none yet) and its channel.
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
      -- A search engine by its name or host, without the other services under that name.
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

-- Every order and amount that counted, with the person's first touch and the last touch at or before it. A refund gets the touches
-- of the latest purchase before it, of the same person and currency. Without such a purchase, its own time counts.
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

-- By UTC day of the order or refund, for each of the two models.
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

-- How engaged each person is now. An event gives 5 points, a page view 1, a minute of active time 1. A point loses half its value
-- every 14 days. The score is 0 to 100: 20 points give 50, 40 points give 75.
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
