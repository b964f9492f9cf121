/** Loads the histories of the contacts of a backtest from the timeline. */
import type { InterpretedType, Source } from '../../rules/events/facts.ts'
import { type AskDeps, askClickHouse, uuidList } from './ask-clickhouse.ts'
import type { PastPerson } from './load-people.ts'
import type { Plan } from './plan-backtest.ts'

/** Events of one contact since `from`. */
export const MAX_EVENTS = 10_000
/** Limits of a set of contacts: events, and characters of their properties. */
const SET_EVENTS = 20_000
const SET_CHARACTERS = 8 * 1024 * 1024

/** An event since `from`. Instants are epoch milliseconds. */
export interface PastEvent {
  event: string
  at: number
  receivedAt: number
  source: Source
  visitorId: string | null
  type: InterpretedType
  value: number | null
  currency: string | null
  /** The amount that it added to the revenue, as a decimal. */
  amount: string
  isOrder: 0 | 1
  /** JSON text for an event whose properties the campaign reads; empty when there are none. */
  properties: string
}

/** The events of one name and currency that were received before `from`. Instants are epoch milliseconds. */
export interface EarlierEvents {
  event: string
  firstAt: number
  lastAt: number
  count: number
  orders: number
  currency: string
  amount: string
}

export interface History {
  earlier: EarlierEvents[]
  /** In the order of receipt. */
  events: PastEvent[]
}

/** Sets of contacts whose histories fit into memory together, and the contacts with more than `MAX_EVENTS`. */
export async function packSets(
  deps: AskDeps,
  plan: Plan,
  people: readonly PastPerson[],
): Promise<{ sets: PastPerson[][]; leftOut: number }> {
  const rows = await askClickHouse<{ id: string; events: number; characters: number }>(
    deps,
    `
      select toString(contact_id) as id, count() as events, sum(length(${propertiesOf(plan)})) as characters
      from events where ${chosen(plan, people)} and received_ms >= {from: Int64} and received_ms <= {now: Int64}
      group by contact_id`,
    paramsOf(plan),
  )
  const sizes = new Map(rows.map((row) => [row.id, row]))
  const sets: PastPerson[][] = []
  let [events, characters, leftOut] = [0, 0, 0]
  for (const person of people) {
    const own = person.ids.flatMap((id) => sizes.get(id) ?? [])
    const many = own.reduce((sum, one) => sum + one.events, 0)
    const long = own.reduce((sum, one) => sum + one.characters, 0)
    if (many > MAX_EVENTS || long > SET_CHARACTERS) {
      leftOut += 1
      continue
    }
    if (sets.length === 0 || events + many > SET_EVENTS || characters + long > SET_CHARACTERS) {
      sets.push([])
      events = characters = 0
    }
    sets.at(-1)?.push(person)
    events += many
    characters += long
  }
  return { sets, leftOut }
}

/** By contact. */
export async function loadHistories(
  deps: AskDeps,
  plan: Plan,
  people: readonly PastPerson[],
): Promise<ReadonlyMap<string, History>> {
  const ownerOf = new Map(people.flatMap(({ contactId, ids }) => ids.map((id) => [id, contactId] as const)))
  const histories = new Map(people.map(({ contactId }): [string, History] => [contactId, { earlier: [], events: [] }]))
  const historyOf = (id: string): History | undefined => histories.get(ownerOf.get(id) ?? '')
  const earlier = await askClickHouse<EarlierEvents & { id: string }>(
    deps,
    `
      select toString(contact_id) as id, event, min(occurred_ms) as firstAt, max(occurred_ms) as lastAt,
        count() as count, sum(is_order) as orders, ifNull(currency, '') as currency, toString(sum(counted)) as amount
      from events where ${chosen(plan, people)} and received_ms < {from: Int64}
      group by contact_id, event, currency`,
    paramsOf(plan),
  )
  for (const { id, ...row } of earlier) historyOf(id)?.earlier.push(row)
  const events = await askClickHouse<PastEvent & { id: string }>(
    deps,
    `
      select toString(contact_id) as id, event, occurred_ms as at, received_ms as receivedAt, source,
        visitor_id as visitorId, type, value, currency, toString(counted) as amount, is_order as isOrder,
        ${propertiesOf(plan)} as properties
      from events where ${chosen(plan, people)} and received_ms >= {from: Int64} and received_ms <= {now: Int64}
      order by received_ms, toString(event_id)`,
    paramsOf(plan),
  )
  for (const { id, ...row } of events) historyOf(id)?.events.push(row)
  return histories
}

function chosen({ names }: Plan, people: readonly PastPerson[]): string {
  const ids = uuidList(people.flatMap((person) => person.ids))
  return `business_id = {business: UUID} and contact_id in (${ids})${names === null ? '' : ' and event in {names: Array(String)}'}`
}

/** Only conditions and keys read them. */
const propertiesOf = ({ readNames }: Plan): string =>
  readNames.length > 0 ? `if(event in {readNames: Array(String)}, properties, '')` : `''`

const paramsOf = ({ business, names, readNames, from, now }: Plan) => ({
  business: business.id,
  from,
  now,
  ...(names !== null && { names }),
  ...(readNames.length > 0 && { readNames }),
})
