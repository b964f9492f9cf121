/** Computes the totals of contacts and businesses from the ledger and the contract, in the format of `readHeld`. */
import type { Fact, Sending } from '../ledger.ts'
import type { Held, Sums } from '../read-held.ts'
import type { RecordedFact } from './facts.ts'
import { newestTraits } from './newest-traits.ts'

export function checkSums(recorded: RecordedFact[], identifies: Sending[], held: Held): string[] {
  const ownEvents = addUp(recorded, ({ owner }) => owner)
  const states = statesOf(recorded)
  const traits = [...newestTraits(recorded, identifies, held)]
  const inPostgres = new Map(traits.map(([name, [at, json]]) => [name, `${json} ${at}`]))
  const inClickhouse = new Map(traits.flatMap(([name, [, json]]) => (json === null ? [] : [[name, json] as const])))
  const revenue = addUp(recorded, ({ fact }) => fact.businessId, false)
  const fields = fieldsOf(recorded, identifies, held)
  return [
    ...differences('Postgres: ', new Map([...ownEvents, ...states, ...inPostgres]), held.postgresSums),
    ...differences('ClickHouse: ', new Map([...ownEvents, ...states, ...inClickhouse]), held.clickhouseSums),
    ...differences('', revenue, held.clickhouseRevenue),
    ...differences('custom field ', fields, held.fields),
  ]
}

/**
 * Adds up per owner: count, first and last time of each event, revenue per currency, orders. Owners are contacts, or
 * businesses (without events).
 */
function addUp(recorded: RecordedFact[], ownerOf: (fact: RecordedFact) => string, withEvents = true): Sums {
  const sums: Sums = new Map()
  for (const [owner, own] of Map.groupBy(recorded, ownerOf)) {
    for (const [event, same] of withEvents ? Map.groupBy(own, ({ fact }) => fact.event) : []) {
      const times = same.map(({ occurredAt }) => occurredAt)
      sums.set(`${owner} event ${event}`, `${same.length} ${Math.min(...times)} ${Math.max(...times)}`)
    }
    const facts = own.map(({ fact }) => fact)
    for (const [currency, same] of Map.groupBy(facts, (fact) => fact.currency ?? '')) {
      const cents = same.reduce((sum, fact) => sum + fact.cents, 0)
      if (cents !== 0) sums.set(`${owner} revenue ${currency}`, String(cents))
    }
    const orders = facts.filter(({ order }) => order).length
    if (orders > 0) sums.set(`${owner} orders`, String(orders))
  }
  return sums
}

/** From the contract's table. The other events of the traffic do not change the stage. */
const STAGES: [stage: string, event: string][] = [
  ['Decision', 'purchase'],
  ['Consideration', 'add_to_cart'],
]

/** The union of the tags, and the furthest stage. */
function statesOf(recorded: RecordedFact[]): Sums {
  const states: Sums = new Map()
  for (const [owner, own] of Map.groupBy(recorded, (one) => one.owner)) {
    const tags = new Set(own.flatMap(({ fact }) => fact.tags ?? []))
    if (tags.size > 0) states.set(`${owner} tags`, [...tags].toSorted().join())
    const [stage] = STAGES.find(([, event]) => own.some(({ fact }) => fact.event === event)) ?? []
    if (stage) states.set(`${owner} stage`, stage)
  }
  return states
}

/** A field has the type of its first value. The traffic never varies the type. */
function fieldsOf(recorded: RecordedFact[], identifies: Sending[], { identifications }: Held): Sums {
  const sent = [
    ...recorded.map(({ fact }) => fact),
    ...identifies
      .filter(({ mark }) => identifications.has(mark))
      .map(({ business, traits }) => ({ businessId: business.businessId, traits })),
  ]
  return new Map(
    sent.flatMap(({ businessId, traits = {} }: Pick<Fact, 'businessId' | 'traits'>) =>
      Object.entries(traits).flatMap(([key, value]) =>
        value === null ? [] : [[`${businessId} ${key}`, typeOf(value)] as const],
      ),
    ),
  )
}

function typeOf(value: string | number | boolean): string {
  if (typeof value !== 'string') return typeof value === 'number' ? 'Number' : 'Boolean'
  return /^\d{4}-\d\d-\d\d$/.test(value) ? 'Date' : 'Text'
}

function differences(where: string, expected: Sums, actual: Sums): string[] {
  const names = [...new Set([...expected.keys(), ...actual.keys()])]
  return names
    .filter((name) => expected.get(name) !== actual.get(name))
    .map((name) => `${where}${name} is ${actual.get(name)}, not ${expected.get(name)}`)
}
