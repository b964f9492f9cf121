/**
 * Reads the data about a business's contacts from Postgres by plain SQL, independently of the code of saves and of the
 * worker.
 */
import type { Channel, FieldType, IdentityKind, Profile } from '../../../src/rules/events/facts.ts'
import type { TraitEntry } from '../../../src/rules/events/traits.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import type { ResolvedRule } from '../../../src/rules/segments/rule.ts'
import { topicChannel } from '../../../src/rules/topics/topic.ts'
import type { Queryable } from '../../../src/stores/postgres.ts'

export interface PlainContact extends SegmentFacts {
  dueAt: number | null
  settledAt: number
}

type Row<Columns> = Columns & { contact_id: string }
type Event = Row<{ event: string; first_at: number; last_at: number; count: number }>
type Person = Row<{
  created_at: number
  stage: number
  order_count: number
  tags: string[]
  traits: Record<string, TraitEntry>
  due_at: number | null
  settled_at: number | null
  profile: Record<keyof Profile, string | null>
}>

/** By id, without merged and erased contacts. */
export async function readPlainFacts(sql: Queryable, businessId: string): Promise<Map<string, PlainContact>> {
  const people = await sql<Person[]>`
    select c.id as contact_id, c.created_at, c.stage, c.order_count, to_json(c.tags) as tags, c.traits, k.due_at, k.settled_at,
      json_build_object('firstName', first_name, 'lastName', last_name, 'country', country, 'city', city, 'language', language,
        'timezone', timezone) as profile
    from contacts c left join segment_clock k on k.business_id = c.business_id and k.contact_id = c.id
    where c.business_id = ${businessId} and c.merged_into is null`
  const events = await sql<Event[]>`select * from event_statistics where business_id = ${businessId}`
  const revenue = await sql<Row<{ currency: string; amount: string }>[]>`
    select contact_id, currency, amount::text as amount from revenue where business_id = ${businessId}`
  const identities = await sql<Row<{ kind: IdentityKind; value: string }>[]>`
    select contact_id, kind, value from identities where business_id = ${businessId}`
  const choices = await sql<Row<{ channel: Channel; subscribed: boolean }>[]>`
    select contact_id, channel, subscribed from subscriptions where business_id = ${businessId}`
  const topics = await sql<Row<{ topic: string; channel: Channel; subscribed: boolean }>[]>`
    select contact_id, topic, channel, subscribed from topic_choices where business_id = ${businessId}`
  const of = <Other extends Row<object>>(rows: readonly Other[], { contact_id }: Person) =>
    rows.filter((row) => row.contact_id === contact_id)
  return new Map(
    people.map((person) => [
      person.contact_id,
      {
        createdAt: person.created_at,
        stage: person.stage,
        profile: Object.fromEntries(Object.entries(person.profile).filter(([, value]) => value !== null)),
        identities: of(identities, person).map(({ kind, value }) => ({ kind, value, proven: true })),
        subscriptions: Object.fromEntries(
          of(choices, person).map(({ channel, subscribed }) => [channel, { subscribed, at: 0 }]),
        ),
        topics: Object.fromEntries(
          of(topics, person).map(({ topic, channel, subscribed }) => [
            topicChannel(topic, channel),
            { subscribed, at: 0 },
          ]),
        ),
        orderCount: person.order_count,
        statistics: new Map(
          of(events, person).map(({ event, first_at, last_at, count }) => [
            event,
            { firstAt: first_at, lastAt: last_at, count },
          ]),
        ),
        traits: new Map(Object.entries(person.traits)),
        tags: new Set(person.tags),
        revenue: new Map(of(revenue, person).map(({ currency, amount }) => [currency, amount])),
        windows: new Map(),
        dueAt: person.due_at,
        settledAt: person.settled_at ?? 0,
      },
    ]),
  )
}

export async function readFields(sql: Queryable, businessId: string): Promise<Map<string, FieldType>> {
  const rows = await sql<{ key: string; type: FieldType }[]>`
    select key, type from custom_fields where business_id = ${businessId}`
  return new Map(rows.map(({ key, type }) => [key, type]))
}

export interface PlainRule {
  no: number
  segment_id: string
  state: 'current' | 'building' | 'retired'
  rule: ResolvedRule
  switched_at: number | null
  replaces: number | null
}

export const readRules = (sql: Queryable, businessId: string) => sql<PlainRule[]>`
  select no, segment_id, state, rule, switched_at, replaces from segment_rules where business_id = ${businessId} order by no`

/** Returns contact ids by the number of the rule. */
export async function readMembers(sql: Queryable, businessId: string): Promise<Map<number, Set<string>>> {
  const rows = await sql<Row<{ segment_no: number }>[]>`
    select contact_id, segment_no from segment_members where business_id = ${businessId}`
  const byRule = Map.groupBy(rows, ({ segment_no }) => segment_no)
  return new Map([...byRule].map(([no, members]) => [no, new Set(members.map(({ contact_id }) => contact_id))]))
}

export async function readSizes(sql: Queryable, businessId: string): Promise<Map<number, number>> {
  const rows = await sql<{ segment_no: number; size: number }[]>`
    select segment_no, sum(members)::int as size from segment_sizes where business_id = ${businessId} group by segment_no`
  return new Map(rows.map(({ segment_no, size }) => [segment_no, size]))
}

export interface PlainChange {
  segmentId: string
  contactId: string
  entered: boolean
  at: number
  cause: string
}

/** Returns changes in the order in which they were saved, from this row of the outbox on. */
export async function readChanges(sql: Queryable, businessId: string, since: number): Promise<PlainChange[]> {
  const rows = await sql<{ lines: string }[]>`
    select segment_changes as lines from outbox where segment_changes is not null and id > ${since} order by id`
  return rows
    .flatMap(({ lines }) => lines.split('\n').map((line) => JSON.parse(line) as Record<string, string | number>))
    .filter((line) => line['business_id'] === businessId)
    .map((line) => ({
      segmentId: String(line['segment_id']),
      contactId: String(line['contact_id']),
      entered: line['entered'] === 1,
      at: Number(line['at_ms']),
      cause: String(line['cause']),
    }))
}
