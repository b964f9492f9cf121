import {
  CHANNELS,
  type IdentityKind,
  PROFILE_FIELDS,
  type ProfileField,
  type Subscriptions,
  type Touch,
} from '../../rules/events/facts.ts'
import { MAX_REMEMBERED } from '../../rules/limits.ts'
import { STAGES, type StageName } from '../../rules/events/journey-stage.ts'
import { amountToNumber } from '../../rules/events/money.ts'
import type { TraitEntry } from '../../rules/events/traits.ts'
import { SELECT_PROFILE } from '../profile-columns.ts'
import type { Sql } from '../../stores/postgres.ts'
import { TOPICS, type TopicRow, showChosen } from './topic-rows.ts'

/** Number of visitors that are listed for a contact, the newest ones. A caller without a key can add any number. */
export const MAX_VISITORS = 100

/** A browser that identified the person. Its times and touches are null until a page with the tag has reported it. */
export interface Visitor {
  visitorId: string
  firstSeenAt: string | null
  lastSeenAt: string | null
  firstTouch: ShownTouch | null
  latestTouch: ShownTouch | null
}
type ShownTouch = Omit<Touch, 'at'> & { at: string }

/** A person as callers see them (decisions, "Reading back"). Instants are ISO 8601 UTC. */
export interface Contact extends Record<ProfileField, string | null> {
  contactId: string
  tags: string[]
  customFields: Record<string, unknown>
  stage: StageName
  revenue: { total: number; currency: string; byCurrency: Record<string, number> }
  orderCount: number
  /** The primary identity comes first. */
  identities: Record<IdentityKind, string[]>
  events: { event: string; firstAt: string; lastAt: string; count: number }[]
  subscriptions: Subscriptions
  /** By key: the choice, or else the default of the topic. */
  topics: Record<string, Partial<Subscriptions>>
  /** The newest `MAX_VISITORS` browsers, oldest first. */
  visitorIds: string[]
  visitors: Visitor[]
  enrolments: {
    enrolmentId: string
    campaignId: string
    key: string | null
    state: string
    enrolledAt: string
    endedAt: string | null
  }[]
  segments: { segmentId: string; name: string; enteredAt: string }[]
  createdAt: string
  mergedFrom: string[]
}

interface VisitorRow {
  visitorId: string
  firstSeenAt: number | null
  lastSeenAt: number | null
  firstTouch: Touch | null
  latestTouch: Touch | null
}
interface ContactRow extends Record<ProfileField, string | null> {
  contactId: string
  createdAt: number
  stage: number
  orderCount: number
  tags: string[]
  traits: Record<string, TraitEntry>
  identities: { kind: IdentityKind; value: string; read: boolean }[]
  revenue: Record<string, string>
  events: { event: string; firstAt: number; lastAt: number; count: number }[]
  subscriptions: Partial<Subscriptions>
  topics: TopicRow[] | null
  visitors: VisitorRow[]
  enrolments: {
    enrolmentId: string
    campaignId: string
    key: string | null
    state: string
    enrolledAt: number
    endedAt: number | null
  }[]
  segments: { segmentId: string; name: string; enteredAt: number }[]
  mergedFrom: string[]
}

/**
 * Reads one person as of one instant: in a single statement. A merged id resolves to its survivor. Null when the
 * contact is unknown, erased, or belongs to another business. `contactId` is a UUID; `currency` is the business's
 * current default.
 */
export async function readContact(
  sql: Sql,
  { businessId, contactId, currency }: { businessId: string; contactId: string; currency: string },
): Promise<Contact | null> {
  const [row] = await sql<ContactRow[]>`
    select c.id as "contactId", ${sql.unsafe(SELECT_PROFILE)}, c.created_at as "createdAt", c.stage, c.order_count as "orderCount", to_json(c.tags) as tags, c.traits,
      (select coalesce(json_agg(json_build_object('kind', i.kind, 'value', i.value, 'read', i.phone_read) order by i.proven desc, i.is_primary desc, i.position), '[]')
        from identities i where i.business_id = c.business_id and i.contact_id = c.id) as identities,
      (select coalesce(json_object_agg(r.currency, r.amount::text order by r.currency), '{}')
        from revenue r where r.business_id = c.business_id and r.contact_id = c.id) as revenue,
      (select coalesce(json_agg(json_build_object('event', s.event, 'firstAt', s.first_at, 'lastAt', s.last_at,
          'count', s.count) order by s.event), '[]')
        from event_statistics s where s.business_id = c.business_id and s.contact_id = c.id) as events,
      (select coalesce(json_object_agg(s.channel, s.subscribed), '{}')
        from subscriptions s where s.business_id = c.business_id and s.contact_id = c.id) as subscriptions, ${sql.unsafe(TOPICS)} as topics,
      (select coalesce(json_agg(json_build_object('visitorId', l.visitor_id, 'firstSeenAt', v.first_seen_at,
          'lastSeenAt', v.last_seen_at, 'firstTouch', v.first_touch, 'latestTouch', v.latest_touch)
          order by l.linked_at, l.visitor_id), '[]')
        from (
          select o.* from contact_visitors o where o.business_id = c.business_id and o.contact_id = c.id and not o.waits
          order by o.linked_at desc, o.visitor_id desc limit ${MAX_VISITORS}
        ) l left join visitors v on v.business_id = l.business_id and v.visitor_id = l.visitor_id) as visitors,
      (select coalesce(json_agg(json_build_object('enrolmentId', e.id, 'campaignId', e.campaign_id, 'key', e.key, 'state', e.state,
          'enrolledAt', e.enrolled_at, 'endedAt', e.ended_at) order by e.enrolled_at, e.received_at), '[]')
        from (
          select * from only enrolments e where e.business_id = c.business_id and e.contact_id = c.id
          union all (
            select * from keyed_enrolments e where e.business_id = c.business_id and e.contact_id = c.id
            order by e.id desc limit ${MAX_REMEMBERED}
          )
        ) e) as enrolments,
      (select coalesce(json_agg(json_build_object('segmentId', s.id, 'name', s.name, 'enteredAt', m.since)
          order by m.since, s.id), '[]')
        from list_memberships(c.business_id, c.id) m
        join segments s on s.business_id = c.business_id and s.id = m.segment_id) as segments,
      to_json(array(select m.id from contacts m where m.business_id = c.business_id and m.merged_into = c.id
        order by m.created_at, m.id)) as "mergedFrom"
    from contacts c join businesses b on b.id = c.business_id
    where c.business_id = ${businessId} and c.id = (
      select coalesce(merged_into, id) from contacts where business_id = ${businessId} and id = ${contactId}
    )`
  return row === undefined ? null : toContact(row, currency)
}

function toContact(row: ContactRow, currency: string): Contact {
  const { contactId, tags, visitors, mergedFrom } = row
  const profile = Object.fromEntries(PROFILE_FIELDS.map((field) => [field, row[field]]))
  return {
    contactId,
    ...(profile as Record<ProfileField, string | null>),
    tags,
    customFields: readTraitValues(row.traits),
    stage: STAGES[row.stage] ?? STAGES[0],
    revenue: showRevenue(row.revenue, currency),
    orderCount: row.orderCount,
    identities: showIdentities(row.identities),
    events: row.events.map((one) => ({ ...one, firstAt: isoTime(one.firstAt), lastAt: isoTime(one.lastAt) })),
    subscriptions: showSubscriptions(row.subscriptions),
    topics: showChosen(row.topics),
    visitorIds: visitors.map(({ visitorId }) => visitorId),
    visitors: visitors.map(showVisitor),
    enrolments: row.enrolments.map((one) => ({
      ...one,
      enrolledAt: isoTime(one.enrolledAt),
      endedAt: one.endedAt === null ? null : isoTime(one.endedAt),
    })),
    segments: row.segments.map((one) => ({ ...one, enteredAt: isoTime(one.enteredAt) })),
    createdAt: isoTime(row.createdAt),
    mergedFrom,
  }
}

/** @param currency the business's current default */
export function showRevenue(sums: Record<string, string>, currency: string): Contact['revenue'] {
  const byCurrency = Object.fromEntries(Object.entries(sums).map(([code, sum]) => [code, amountToNumber(sum)]))
  return { total: byCurrency[currency] ?? 0, currency, byCurrency }
}

/** Returns the values of custom fields, without cleared ones. */
export function readTraitValues(traits: Record<string, TraitEntry>): Record<string, unknown> {
  const values = Object.entries(traits).flatMap(([key, [, json]]) => (json === null ? [] : [[key, JSON.parse(json)]]))
  return Object.fromEntries(values) as Record<string, unknown>
}

export function showIdentities(rows: ContactRow['identities']): Contact['identities'] {
  const valuesOf = (kind: IdentityKind) =>
    rows.filter((row) => row.kind === kind).map((row) => (row.read ? `+${row.value}` : row.value))
  return { email: valuesOf('email'), phone: valuesOf('phone'), platformCustomerId: valuesOf('platformCustomerId') }
}

/** Without a recorded opt-in, a contact is not subscribed. */
export function showSubscriptions(recorded: Partial<Subscriptions>): Subscriptions {
  return Object.fromEntries(CHANNELS.map((channel) => [channel, recorded[channel] ?? false])) as Subscriptions
}

function showVisitor({ visitorId, firstSeenAt, lastSeenAt, firstTouch, latestTouch }: VisitorRow): Visitor {
  return {
    visitorId,
    firstSeenAt: firstSeenAt === null ? null : isoTime(firstSeenAt),
    lastSeenAt: lastSeenAt === null ? null : isoTime(lastSeenAt),
    firstTouch: showTouch(firstTouch),
    latestTouch: showTouch(latestTouch),
  }
}

const showTouch = (touch: Touch | null): ShownTouch | null => touch && { ...touch, at: isoTime(touch.at) }

export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString()
