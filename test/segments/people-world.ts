/** Random people and their events, as stored in Postgres and in the timeline, and the values that rules should read. */
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { columnOf } from '../../src/contacts/profile-columns.ts'
import { encodeTimelineRow } from '../../src/outbox/timeline-row.ts'
import { isWindowed } from '../../src/rules/segments/condition-kinds.ts'
import type { SegmentFacts } from '../../src/rules/segments/membership/facts.ts'
import { factConditionsOf } from '../../src/rules/segments/membership/reads-of.ts'
import type { ResolvedRule } from '../../src/rules/segments/rule.ts'
import { windowKey } from '../../src/rules/segments/windows/window-key.ts'
import { BASE, factsOfWorld } from '../rules/segments/worlds.ts'
import { type EventSeed, type Lab, erase, eventOf, saveLines } from '../timeline/lab.ts'
import { happened } from './event-world.ts'
import { type Happened, valueOfWindow } from './naive-windows.ts'

export interface Person {
  facts: SegmentFacts
  /** By id: the person's own id, and those of contacts that were merged into it. */
  events: Happened[][]
  isErased: boolean
}

const oneOf = fc.constantFrom
/** Value of a field that is in no list of fields: its type is that of the value. */
const later = fc.option(oneOf<unknown>('a', 'AB', '2026-11-20', '2026-11-20T12:00:00.001Z', 1, 1e20, -0.5, true, false))
const age = oneOf<unknown>(1e20, -1e20, 18446744073709552000, 9007199254740992, 5e-324, 2)

const person: fc.Arbitrary<Person> = fc
  .record({
    facts: factsOfWorld(),
    events: fc.array(fc.array(happened, { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    isErased: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    later,
    age: fc.option(age),
  })
  .map(({ facts, later: value, age: number, ...rest }) => {
    const traits = new Map(facts.traits)
    if (value !== null) traits.set('later', [0, JSON.stringify(value)])
    if (number !== null) traits.set('age', [0, JSON.stringify(number)])
    return { ...rest, facts: { ...facts, traits, statistics: statisticsOf(rest) } }
  })

/** An identity belongs to one person only, and no person has two customer ids. */
export const peopleOf = (least: number) =>
  fc.array(person, { minLength: least, maxLength: 25 }).map((all) => {
    const taken = new Set<string>()
    return all.map((one, place) => {
      const identities = one.facts.identities.filter(({ kind, value }) => {
        const keys = [`${kind} ${value}`, ...(kind === 'platformCustomerId' ? [`${kind} of ${place}`] : [])]
        return !keys.some((key) => taken.has(key)) && keys.every((key) => taken.add(key))
      })
      return { ...one, facts: { ...one.facts, identities } }
    })
  })

function statisticsOf({ events }: Pick<Person, 'events'>): SegmentFacts['statistics'] {
  const byName = Map.groupBy(events.flat(), ({ event }) => event)
  return new Map(
    [...byName].map(([event, those]) => {
      const times = those.map(({ at }) => at)
      return [event, { firstAt: Math.min(...times), lastAt: Math.max(...times), count: those.length }]
    }),
  )
}

/** Returns facts that include the values of the rule's windowed conditions at that instant. */
export function factsAt({ facts, events }: Person, rule: ResolvedRule, now: number): SegmentFacts {
  const windows = new Map<string, string>()
  for (const condition of factConditionsOf(rule).filter(isWindowed)) {
    const value = valueOfWindow(condition, events.flat(), now)
    if (value !== undefined) windows.set(windowKey(condition), value)
  }
  return { ...facts, windows }
}

/** Writes people as saves, merges and erasures leave them. Returns the id of each. */
export async function writePeople(lab: Lab, businessId: string, people: Person[]): Promise<string[]> {
  // Topics are read of a business that has some.
  await lab.sql`insert into businesses (id, name, has_topics) values (${businessId}, 'World', true) on conflict do nothing`
  const ids: string[] = []
  const lines: string[] = []
  const touched: string[] = []
  const erased: string[] = []
  for (const one of people) {
    const own = one.events.map(() => uuidv7())
    const [id = '', ...merged] = own
    await insertContact(lab, businessId, id, one.facts)
    for (const lost of merged)
      await lab.sql`insert into contacts (business_id, id, created_at, keyed, merged_into) values (${businessId}, ${lost}, 0, true, ${id})`
    one.events.forEach((events, place) =>
      lines.push(...events.map((event) => encodeTimelineRow(eventOf(businessId, rowOf(own[place] ?? '', event))))),
    )
    ids.push(id)
    touched.push(...own)
    if (one.isErased) erased.push(...own)
  }
  await saveLines(lab, businessId, lines, touched)
  if (erased.length > 0) await erase(lab, businessId, erased)
  return ids
}

const rowOf = (contact_id: string, { event, at, properties, ...rest }: Happened): EventSeed => ({
  contact_id,
  event,
  occurred_ms: at,
  received_ms: BASE,
  properties: properties === null ? '' : JSON.stringify(properties),
  ...rest,
})

async function insertContact({ sql }: Lab, businessId: string, id: string, facts: SegmentFacts): Promise<void> {
  const profile = Object.entries(facts.profile).map(([field, value]) => [columnOf(field), value] as const)
  await sql`insert into contacts ${sql({
    business_id: businessId,
    id,
    created_at: facts.createdAt,
    keyed: true,
    stage: facts.stage,
    order_count: facts.orderCount,
    ...Object.fromEntries(profile),
  })}`
  const traits = JSON.stringify(Object.fromEntries(facts.traits))
  const tags = JSON.stringify([...facts.tags])
  await sql`update contacts set traits = ${traits}::text::jsonb, tags = array(select json_array_elements_text(${tags}::text::json))
    where business_id = ${businessId} and id = ${id}`
  for (const [currency, amount] of facts.revenue)
    await sql`insert into revenue values (${businessId}, ${id}, ${currency}, ${amount})`
  for (const [channel, consent] of Object.entries(facts.subscriptions))
    await sql`insert into subscriptions (business_id, contact_id, channel, subscribed, method, recorded_at)
      values (${businessId}, ${id}, ${channel}, ${consent.subscribed}, 'test', ${consent.at})`
  for (const [name, choice] of Object.entries(facts.topics)) {
    const [topic = '', channel = ''] = name.split(' ')
    await sql`insert into topic_choices (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
      values (${businessId}, ${id}, ${topic}, ${channel}, ${choice?.subscribed ?? false}, 'test', ${choice?.at ?? 0})`
  }
  for (const { kind, value, proven } of facts.identities)
    await sql`insert into identities (business_id, kind, value, contact_id, proven, phone_read)
      values (${businessId}, ${kind}, ${value}, ${id}, ${proven}, ${value.endsWith('8')})`
}
