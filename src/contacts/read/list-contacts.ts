import { type IdentityKind, type ProfileField, type Subscriptions } from '../../rules/events/facts.ts'
import { STAGES } from '../../rules/events/journey-stage.ts'
import { PROFILE_PAIRS } from '../profile-columns.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type Contact, isoTime, showIdentities, showRevenue, showSubscriptions } from './read-contact.ts'

/** A contact in a list: the contact's row and a few related rows. */
export type ListedContact = Pick<
  Contact,
  | 'contactId'
  | ProfileField
  | 'tags'
  | 'stage'
  | 'revenue'
  | 'orderCount'
  | 'identities'
  | 'subscriptions'
  | 'createdAt'
>

export interface ContactFilter {
  /**
   * Part of a name, an email, a phone or a customer id. If it is shorter than three characters, only beginnings match.
   * Not empty.
   */
  query: string | null
  tag: string | null
  stage: number | null
  /** Id of a segment whose members are listed. */
  segment: string | null
  /** A custom field, and its value as text. */
  field: { key: string; value: string } | null
}

export interface ContactPage {
  /**
   * May be fewer than the limit, or none, when few contacts match. There are more pages as long as there is a cursor.
   */
  contacts: ListedContact[]
  /** Null on the last page. */
  nextCursor: string | null
}

interface Row {
  contacts: ContactRow[]
  stoppedAt: number | null
  stoppedId: string | null
}
type ContactRow = Omit<ListedContact, 'stage' | 'revenue' | 'identities' | 'subscriptions' | 'createdAt'> & {
  createdAt: number
  stage: number
  identities: { kind: IdentityKind; value: string; read: boolean }[]
  revenue: Record<string, string>
  subscriptions: Partial<Subscriptions>
}

/** Time limit of the search for one page, in milliseconds. */
const SEARCH_MS = 300

/**
 * Lists contacts, newest first, without merged ones. A contact that exists the whole time is on exactly one page,
 * even while others are created, merged or erased: neither its `createdAt` nor its id changes. Resolves with null when
 * the cursor does not belong to this list.
 */
export async function listContacts(
  sql: Sql,
  page: { businessId: string; currency: string; limit: number; cursor: string | null; filter: ContactFilter },
): Promise<ContactPage | null> {
  const before = page.cursor === null ? NEWEST : readCursor(page.cursor)
  if (before === null) return null
  const [row] = await sql<[Row]>`
    select found.stopped_at as "stoppedAt", found.stopped_id as "stoppedId", to_json(array(
      select json_build_object('contactId', c.id, ${sql.unsafe(PROFILE_PAIRS)}, 'tags', c.tags, 'stage', c.stage,
        'orderCount', c.order_count, 'createdAt', c.created_at,
        'identities', (
          select coalesce(json_agg(json_build_object('kind', i.kind, 'value', i.value, 'read', i.phone_read) order by i.proven desc, i.is_primary desc, i.position), '[]')
          from identities i where i.business_id = c.business_id and i.contact_id = c.id
        ),
        'revenue', (
          select coalesce(json_object_agg(r.currency, r.amount::text order by r.currency), '{}')
          from revenue r where r.business_id = c.business_id and r.contact_id = c.id
        ),
        'subscriptions', (
          select coalesce(json_object_agg(s.channel, s.subscribed), '{}')
          from subscriptions s where s.business_id = c.business_id and s.contact_id = c.id
        ))
      from unnest(found.ids) with ordinality as listed (id, place)
      cross join lateral (
        select * from contacts c where c.business_id = ${page.businessId} and c.id = listed.id limit 1
      ) c
      order by listed.place
    )) as contacts
    from ${findContacts(sql, page, before)} as found`
  const { contacts, stoppedAt, stoppedId } = row
  return {
    contacts: contacts.map((contact) => toListed(contact, page.currency)),
    nextCursor: stoppedAt === null || stoppedId === null ? null : `${stoppedAt}_${stoppedId}`,
  }
}

/** Up to this number, contacts are counted exactly. */
const MAX_COUNTED = 10_000

export interface ContactCount {
  count: number
  /**
   * `estimate`: from the statistics of Postgres. `at_least`: there may be more, since the search took too long or found
   * too many.
   */
  kind: 'exact' | 'estimate' | 'at_least'
}

/** Counts the contacts that match, up to 10,000 and within the time limit of one page. */
export async function countContacts(sql: Sql, businessId: string, filter: ContactFilter): Promise<ContactCount> {
  const { segment, ...others } = filter
  if (segment !== null && Object.values(others).every((one) => one === null))
    return { count: await countMembers(sql, businessId, segment), kind: 'exact' }
  const [row] = await sql<[{ count: number; isAll: boolean }]>`
    select cardinality(ids) as count, stopped_at is null as "isAll"
    from ${findContacts(sql, { businessId, limit: MAX_COUNTED, filter }, NEWEST)}`
  if (row.isAll) return { count: row.count, kind: 'exact' }
  if (Object.values(filter).some((one) => one !== null)) return { count: row.count, kind: 'at_least' }
  const [plan] = await sql<[{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }]>`
    explain (format json) select from contacts where business_id = ${businessId} and merged_into is null`
  return { count: Math.max(row.count, plan['QUERY PLAN'][0].Plan['Plan Rows']), kind: 'estimate' }
}

async function countMembers(sql: Sql, businessId: string, segmentId: string): Promise<number> {
  const [{ members }] = await sql<[{ members: number }]>`
    select coalesce(sum(z.members), 0)::bigint as members from segment_rules r
    join segment_sizes z on z.business_id = r.business_id and z.segment_no = r.no
    where r.business_id = ${businessId} and r.segment_id = ${segmentId} and r.state = 'current'`
  return members
}

function findContacts(
  sql: Sql,
  { businessId, limit, filter }: { businessId: string; limit: number; filter: ContactFilter },
  before: typeof NEWEST,
) {
  const { query, tag, stage, segment, field } = filter
  const patterns = query === null ? null : patternsOf(query)
  return sql`find_contacts(${businessId}, ${before.createdAt}, ${before.id}, ${limit}, ${stage}::smallint, ${tag},
    ${segment}::uuid, ${field && field.key},
    (select array_agg(v) from json_array_elements_text(${field && JSON.stringify(jsonTextsOf(field.value))}::text::json) as v),
    (select array_agg(lower(p)) from json_array_elements_text(${patterns && JSON.stringify(patterns.values)}::text::json) as p),
    (select array_agg(lower(p)) from json_array_elements_text(${patterns && JSON.stringify(patterns.names)}::text::json) as p),
    ${SEARCH_MS})`
}

/**
 * Returns the values that the text can mean, whatever the type of the field: a text, and perhaps also a number or a
 * boolean.
 */
function jsonTextsOf(value: string): string[] {
  const number = Number(value)
  return [
    JSON.stringify(value),
    ...(value.trim() !== '' && Number.isFinite(number) ? [JSON.stringify(number)] : []),
    ...(value === 'true' || value === 'false' ? [value] : []),
  ]
}

const MAX_NON_PHONE_DIGITS = 2
const IN_PHONE = /^[+\d\s().-]+$/

/** Returns patterns for LIKE. A phone is stored as digits, starting with the calling code of its country. */
function patternsOf(query: string): { values: string[]; names: string[] } {
  const text = query.replaceAll(/[\\%_]/g, String.raw`\$&`)
  const digits = IN_PHONE.test(query) ? query.replaceAll(/\D/g, '').replace(/^0+/, '') : ''
  const phones = digits.length > MAX_NON_PHONE_DIGITS && digits !== text ? [`%${digits}%`] : []
  return query.length < 3
    ? { values: [`${text}%`, ...phones], names: [`${text}%`, `% ${text}%`] }
    : { values: [`%${text}%`, ...phones], names: [`%${text}%`] }
}

function toListed(row: ContactRow, currency: string): ListedContact {
  return {
    ...row,
    stage: STAGES[row.stage] ?? STAGES[0],
    revenue: showRevenue(row.revenue, currency),
    identities: showIdentities(row.identities),
    subscriptions: showSubscriptions(row.subscriptions),
    createdAt: isoTime(row.createdAt),
  }
}

const NEWEST = { createdAt: Number.MAX_SAFE_INTEGER, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }
const CURSOR = /^(-?\d{1,15})_([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/

function readCursor(cursor: string): typeof NEWEST | null {
  const [, createdAt, id] = CURSOR.exec(cursor) ?? []
  return createdAt === undefined || id === undefined ? null : { createdAt: Number(createdAt), id }
}
