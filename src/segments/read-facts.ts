import type { Channel, Profile } from '../rules/events/facts.ts'
import type { TraitEntry } from '../rules/events/traits.ts'
import type { ContactIdentity, Statistic, StoredConsent } from '../rules/contact-parts.ts'
import type { SegmentFacts } from '../rules/segments/membership/facts.ts'
import { PROFILE_PAIRS } from '../contacts/profile-columns.ts'
import type { TopicChoices } from '../rules/topics/topic.ts'
import type { Queryable } from '../stores/postgres.ts'

export interface ContactFacts {
  /** The survivor when the id was merged. */
  contactId: string
  facts: SegmentFacts
}

interface FactRow {
  contactId: string
  createdAt: number
  stage: number
  orderCount: number
  profile: Record<keyof Profile, string | null>
  tags: string[]
  traits: Record<string, TraitEntry>
  identities: ContactIdentity[]
  revenue: Record<string, string>
  statistics: ({ event: string } & Statistic)[]
  subscriptions: Partial<Record<Channel, StoredConsent>>
  topics: TopicChoices
}

/**
 * Returns everything that a rule can read about one contact, as of one instant. Null when the contact is unknown,
 * erased, or of another business.
 */
export async function readFacts(sql: Queryable, businessId: string, contactId: string): Promise<ContactFacts | null> {
  const [row] = await sql<FactRow[]>`
    select c.id as "contactId", c.created_at as "createdAt", c.stage, c.order_count as "orderCount",
      json_build_object(${sql.unsafe(PROFILE_PAIRS)}) as profile, to_json(c.tags) as tags, c.traits,
      (select coalesce(json_agg(json_build_object('kind', i.kind, 'value', i.value, 'proven', i.proven)
          order by i.proven desc, i.is_primary desc, i.position), '[]')
        from identities i where i.business_id = c.business_id and i.contact_id = c.id) as identities,
      (select coalesce(json_object_agg(r.currency, r.amount::text), '{}')
        from revenue r where r.business_id = c.business_id and r.contact_id = c.id) as revenue,
      (select coalesce(json_agg(json_build_object('event', s.event, 'firstAt', s.first_at, 'lastAt', s.last_at,
          'count', s.count)), '[]')
        from event_statistics s where s.business_id = c.business_id and s.contact_id = c.id) as statistics,
      (select coalesce(json_object_agg(s.channel, json_build_object('subscribed', s.subscribed, 'at', s.recorded_at)), '{}')
        from subscriptions s where s.business_id = c.business_id and s.contact_id = c.id) as subscriptions,
      (select coalesce(json_object_agg(t.topic || ' ' || t.channel, json_build_object('subscribed', t.subscribed,
          'at', t.recorded_at)), '{}')
        from topic_choices t where t.business_id = c.business_id and t.contact_id = c.id) as topics
    from contacts c
    where c.business_id = ${businessId} and c.id = (
      select coalesce(merged_into, id) from contacts where business_id = ${businessId} and id = ${contactId}
    )`
  return row === undefined ? null : { contactId: row.contactId, facts: toFacts(row) }
}

function toFacts({ createdAt, stage, orderCount, identities, subscriptions, topics, ...row }: FactRow): SegmentFacts {
  const known = Object.entries(row.profile).filter(([, value]) => value !== null)
  return {
    createdAt,
    stage,
    orderCount,
    identities,
    subscriptions,
    topics,
    profile: Object.fromEntries(known) as Profile,
    tags: new Set(row.tags),
    traits: new Map(Object.entries(row.traits)),
    revenue: new Map(Object.entries(row.revenue)),
    statistics: new Map(row.statistics.map(({ event, ...statistic }) => [event, statistic])),
    windows: new Map(),
  }
}
