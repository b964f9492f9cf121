/**
 * Two years of data of one business. ClickHouse writes them directly into the tables that the shipper and the web
 * workers fill, so the views, merged contacts and erased people are as in production. Equal sizes give equal rows.
 */
import type { ClickHouseClient } from '../../../src/stores/clickhouse.ts'
import { LONG_STATEMENT_SETTINGS } from '../../../src/outbox/look-up-events.ts'

export interface HistorySize {
  contacts: number
  events: number
}

const DAY_MS = 86_400_000
export const SPAN_MS = 730 * DAY_MS
/** Rows per insert. */
const CHUNK = 500_000
/** Every 50th contact is merged into the previous one, and every 500th is erased. */
const MERGED_EVERY = 50
const ERASED_EVERY = 500
/** Contacts per tagged browser, and touches and page views of each browser. */
const CONTACTS_PER_VISITOR = 5
const TOUCHES = 3
const VIEWS = 5

/** Most frequent first. */
export const EVENT_NAMES = [
  'page_viewed',
  'login',
  'searched',
  'product_viewed',
  'email_opened',
  'add_to_cart',
  'email_clicked',
  'checkout_started',
  'purchase',
  'signup',
  'lesson_done',
  'video_played',
  'form_submitted',
  'pricing_page_viewed',
  'product_reviewed',
  'order_delivered',
  'trial_started',
  'invoice_paid',
  'booking_started',
  'appointment_booked',
  'appointment_attended',
  'message_received',
  'whatsapp_replied',
  'subscription_started',
  'subscription_renewed',
  'repeat_purchase',
  'refunded',
  'referral_made',
  'review_5_star',
  'ticket_opened',
]

/** @param end epoch milliseconds of the last event */
export async function fillHistory(
  clickhouse: ClickHouseClient,
  businessId: string,
  { contacts, events }: HistorySize,
  end: number,
): Promise<void> {
  const sizes = { businessId, contacts, events, begin: end - SPAN_MS }
  const run = (query: string) => clickhouse.command({ query, clickhouse_settings: LONG_STATEMENT_SETTINGS })
  const inChunks = async (rows: number, insert: (from: number, count: number) => string) => {
    for (let from = 0; from < rows; from += CHUNK) await run(insert(from, Math.min(CHUNK, rows - from)))
  }
  await inChunks(contacts, (from, count) => insertContacts(sizes, from, count))
  await inChunks(events, (from, count) => insertEvents(sizes, from, count))
  const visitors = Math.ceil(contacts / CONTACTS_PER_VISITOR)
  await inChunks(visitors, (from, count) => insertLinks(sizes, from, count))
  await inChunks(visitors, (from, count) => insertTouches(sizes, from, count))
  await inChunks(visitors * VIEWS, (from, count) => insertHits(sizes, from, count))
}

interface Sizes extends HistorySize {
  businessId: string
  /** Epoch milliseconds. */
  begin: number
}

const hashOf = (number: string, of: string): string => `sipHash64(${number}, '${of}')`
/** A pseudo-random number of at least 0 and below 1. */
const uniform = (number: string, of: string): string => `(${hashOf(number, of)} % 16777216) / 16777216`

/** A UUID that is ordered by time, like those of Sluice. */
const uuidSql = (ms: string, number: string): string => `toUUID(concat(
  substring(lower(hex(toUInt64(${ms}))), 1, 8), '-', substring(lower(hex(toUInt64(${ms}))), 9, 4), '-7',
  substring(lower(hex(sipHash128(${number}))), 1, 3), '-8', substring(lower(hex(sipHash128(${number}))), 4, 3), '-',
  substring(lower(hex(sipHash128(${number}))), 7, 12)))`

/** One contact in a hundred existed when the two years began. */
const createdSql = ({ contacts, begin }: Sizes, contact: string): string =>
  `toInt64(${begin} + greatest(0, (${contact} / ${contacts} - 0.01) / 0.99) * ${SPAN_MS})`
const contactSql = (sizes: Sizes, contact: string): string => uuidSql(createdSql(sizes, contact), contact)

const insertContacts = (sizes: Sizes, from: number, count: number): string => `insert into contact_snapshots
  (business_id, contact_id, revision, erased, merged_into, created_ms, first_name, last_name, country, city, language, timezone,
   stage, tags, custom_fields, order_count, revenue, emails, phones, platform_customer_ids)
select '${sizes.businessId}', ${contactSql(sizes, 'n')}, 1, n % ${ERASED_EVERY} = 7,
  if(n % ${MERGED_EVERY} = ${MERGED_EVERY - 1}, ${contactSql(sizes, '(n - 1)')}, null), ${createdSql(sizes, 'n')},
  concat('First', toString(n % 5000)), concat('Last', toString(n % 70000)),
  ['DE', 'US', 'FR', 'GB', 'IL', 'ES', 'IT', 'NL', 'PL', 'SE'][1 + toUInt8(10 * pow(${uniform('n', 'country')}, 2))], null, 'en', null,
  ['Awareness', 'Consideration', 'Decision', 'Retention', 'Advocacy'][1 + toUInt8(5 * pow(${uniform('n', 'stage')}, 2))],
  if(n % 8 = 3, ['newsletter'], []),
  concat('{"plan":"', ['free', 'pro', 'team'][1 + n % 3], '","seats":', toString(n % 20), '}'), n % 3,
  map('EUR', toDecimal128(n % 300, 6)), [concat('person', toString(n), '@example.com')], [], []
from (select number as n from numbers(${from}, ${count}))`

/**
 * Inserts events in order of time. Two in five belong to a few contacts, mostly early ones; the others are spread over
 * all contacts that exist at the time, mostly new ones.
 */
const insertEvents = (sizes: Sizes, from: number, count: number): string => `insert into events
select '${sizes.businessId}', ${contactSql(sizes, 'contact')}, ${uuidSql('at', 'n')}, name, at, at + ${hashOf('n', 'late')} % 2000,
  multiIf(is_order, 'purchase', is_refund, 'refund', 'none'),
  if(is_order or is_refund, toFloat64(amount), null), if(is_order or is_refund, if(contact % 5 = 0, 'USD', 'EUR'), null),
  if(is_order or is_refund, amount, toDecimal128(0, 6)), is_order,
  concat('{"page":"/catalogue/shoes/', toString(n % 1000), '","campaign":"spring-', toString(n % 12), '","session":"s-',
    toString(${hashOf('n', 'session')} % 4294967296), '","position":', toString(n % 50), ',"plan":"', ['free', 'pro', 'team'][1 + n % 3], '"}'),
  if(n % 3 = 0, 'browser', 'live'), if(n % 2 = 0, concat('key-', toString(n)), null),
  if(n % 3 = 0, concat('visitor-', toString(contact)), null)
from (
  select number as n, toInt64(${sizes.begin} + n / ${sizes.events} * ${SPAN_MS}) as at,
    ${sizes.contacts} * (0.01 + 0.99 * n / ${sizes.events}) as known,
    toUInt64(if(${hashOf('n', 'who')} % 5 < 2, floor(known / 20 * pow(${uniform('n', 'few')}, 2)) * 20,
      floor(known * (1 - pow(${uniform('n', 'all')}, 2)) * 0.999999))) as contact,
    [${EVENT_NAMES.map((name) => `'${name}'`).join(', ')}][1 + toUInt8(${EVENT_NAMES.length} * pow(${uniform('n', 'name')}, 2))] as name,
    name in ('purchase', 'repeat_purchase', 'invoice_paid') as is_order, name = 'refunded' as is_refund,
    toDecimal128(if(is_refund, -1, 1) * (10.5 + n % 90), 6) as amount
  from numbers(${from}, ${count})
)`

const visitorSql = (visitor: string): string => `concat('visitor-', toString(${visitor} * ${CONTACTS_PER_VISITOR}))`

const insertLinks = (sizes: Sizes, from: number, count: number): string => `insert into visitor_links
select '${sizes.businessId}', ${visitorSql('n')}, 0, ${contactSql(sizes, `n * ${CONTACTS_PER_VISITOR}`)}, 1, 0
from (select number as n from numbers(${from}, ${count}))`

const insertTouches = (sizes: Sizes, from: number, count: number): string => `insert into visitor_touches
  (business_id, visitor_id, revision, erased, at_ms, url, referrer, source, medium, campaign, term, content, utm_id, gclid, gbraid,
   wbraid, fbclid, msclkid, ttclid)
select '${sizes.businessId}', ${visitorSql('n')}, 1, 0,
  arrayMap(t -> ${createdSql(sizes, `n * ${CONTACTS_PER_VISITOR}`)} + t * ${20 * DAY_MS}, range(${TOUCHES})),
  ${ofTouches(`concat('https://shop.example/landing/', toString(n % 20))`)}, ${ofTouches(`['', 'https://www.google.com/', 'https://news.example/'][1 + (n + t) % 3]`)},
  ${ofTouches(`['google', 'newsletter', '', 'facebook'][1 + (n + t) % 4]`)}, ${ofTouches(`['cpc', 'email', '', 'social'][1 + (n + t) % 4]`)},
  ${ofTouches(`['spring', 'summer', '', ''][1 + (n + t) % 4]`)}, ${Array.from({ length: 9 }, () => ofTouches(`''`)).join(', ')}
from (select number as n from numbers(${from}, ${count}))`

const ofTouches = (value: string): string => `arrayMap(t -> ${value}, range(${TOUCHES}))`

/** A page view and its time. */
const insertHits = (sizes: Sizes, from: number, count: number): string => `insert into web_events
select '${sizes.businessId}', ${visitorSql(`intDiv(n, ${VIEWS})`)}, concat('hit-', toString(n), kind), kind, concat('page-', toString(n)),
  at + if(kind = 'time', 30000, 0), at + if(kind = 'time', 30000, 0),
  concat('https://shop.example/catalogue/', toString(${hashOf('n', 'page')} % 500), if(n % 7 = 0, '?utm_source=google&utm_campaign=spring', '')),
  if(kind = 'time', '', 'Catalogue'), if(kind = 'time', '', 'https://www.google.com/'), 0, if(kind = 'time', 20000, 0), if(kind = 'time', 10000, 0)
from (
  select number as n, arrayJoin(['page_view', 'time']) as kind,
    toInt64(${sizes.begin} + (intDiv(n, ${VIEWS}) * ${CONTACTS_PER_VISITOR} / ${sizes.contacts} + n % ${VIEWS} / ${VIEWS}) / 2 * ${SPAN_MS}) as at
  from numbers(${from}, ${count})
)`
