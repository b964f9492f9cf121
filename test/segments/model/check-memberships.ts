/** Checks the data about segments in Postgres against independently evaluated rules over independently read facts. */
import { evaluate } from './evaluate.ts'
import {
  type PlainChange,
  type PlainContact,
  type PlainRule,
  readChanges,
  readFields,
  readMembers,
  readPlainFacts,
  readRules,
  readSizes,
} from './plain-facts.ts'
import type { FieldType } from '../../../src/rules/events/facts.ts'
import type { Sql } from '../../../src/stores/postgres.ts'

export interface Snapshot {
  contacts: Map<string, PlainContact>
  fields: Map<string, FieldType>
  rules: PlainRule[]
  members: Map<number, Set<string>>
  sizes: Map<number, number>
  changes: PlainChange[]
}

export async function readSnapshot(sql: Sql, businessId: string, since: number): Promise<Snapshot> {
  return {
    contacts: await readPlainFacts(sql, businessId),
    fields: await readFields(sql, businessId),
    rules: await readRules(sql, businessId),
    members: await readMembers(sql, businessId),
    sizes: await readSizes(sql, businessId),
    changes: await readChanges(sql, businessId, since),
  }
}

/** Returns faults in words; empty when there are none. `now` is the time of the test's clock. */
export function findFaults(snapshot: Snapshot, now: number): string[] {
  return [...membershipFaults(snapshot, now), ...sizeFaults(snapshot), ...historyFaults(snapshot)]
}

/**
 * The instants at which the rows of a contact must be right: now, the last one that its due instant allows, and a
 * little earlier.
 */
function instantsOf({ dueAt, settledAt }: PlainContact, now: number): number[] {
  const last = dueAt === null ? FAR : dueAt - 1
  return [...new Set([Math.max(settledAt, now - SLACK), Math.min(now, last), last])].filter(
    (at) => at >= settledAt && at <= last,
  )
}
const FAR = 8e15
/** In ms. Receipts in the test go back by less. */
export const SLACK = 2000

function membershipFaults({ contacts, fields, rules, members }: Snapshot, now: number): string[] {
  const faults: string[] = []
  for (const { no, state, rule } of rules) {
    const held = members.get(no) ?? new Set()
    if (state === 'retired') continue
    for (const [id, contact] of contacts)
      for (const at of instantsOf(contact, now)) {
        const is = evaluate(rule, contact, fields, at)
        const isComplete = state === 'current' || held.has(id)
        if (isComplete && held.has(id) !== is)
          faults.push(
            `${state} ${no} ${JSON.stringify(rule)}: ${id} is ${held.has(id) ? 'in' : 'out'}, at ${at} (now ${now}) it should not be: ${show(contact)}`,
          )
      }
    for (const id of held) if (!contacts.has(id)) faults.push(`${state} ${no}: ${id} is in, and is merged or erased`)
  }
  return faults
}

export function sizeFaults({ rules, members, sizes }: Snapshot): string[] {
  return rules.flatMap(({ no, state }) => {
    const [size, count] = [sizes.get(no) ?? 0, members.get(no)?.size ?? 0]
    return size === count || state === 'retired' ? [] : [`${no}: ${size} members are counted, ${count} are in`]
  })
}

/**
 * Returns the faults of a history: entries and exits must alternate, their instants must not decrease, and they must
 * add up to the members.
 */
export function historyFaults({ rules, members, changes }: Snapshot): string[] {
  const faults: string[] = []
  const bySegment = Map.groupBy(changes, ({ segmentId }) => segmentId)
  for (const [segmentId, made] of bySegment) {
    const current = rules.find(({ segment_id, state }) => segment_id === segmentId && state === 'current')
    const inside = new Set<string>()
    for (const [contactId, own] of Map.groupBy(made, ({ contactId }) => contactId)) {
      const said = own.map(({ entered, at, cause }) => `${entered ? '+' : '-'}${at} ${cause}`).join(', ')
      own.forEach(({ entered, at }, index) => {
        if (entered !== (index % 2 === 0)) faults.push(`${segmentId} ${contactId} does not alternate: ${said}`)
        if (at < (own[index - 1]?.at ?? 0)) faults.push(`${segmentId} ${contactId} goes back: ${said}`)
      })
      if (own.at(-1)?.entered) inside.add(contactId)
    }
    if (!current || current.switched_at !== null) continue
    const held = members.get(current.no) ?? new Set()
    if ([...inside].toSorted().join() !== [...held].toSorted().join())
      faults.push(`${segmentId}: the history has ${[...inside].join()} in it, the rows ${[...held].join()}`)
  }
  for (const { no, segment_id, state, switched_at } of rules)
    if (state === 'current' && switched_at === null && !bySegment.has(segment_id) && (members.get(no)?.size ?? 0) > 0)
      faults.push(`${segment_id} has members and no history`)
  return faults
}

export const show = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown): unknown =>
    one instanceof Map ? Object.fromEntries(one) : one instanceof Set ? [...(one as Set<unknown>)] : one,
  )
