/**
 * Two partitions change facts of one person at the same time, each with its own cached contacts: no membership is lost.
 */
import { beforeAll, expect, it } from 'vitest'
import type { Rule } from '../../src/rules/segments/rule.ts'
import { NOW, type Pipeline, type RequestContext, batch, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { findFaults, readSnapshot } from './model/check-memberships.ts'
import { insertSegment } from './segments-support.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let owners: [Pipeline, Pipeline]
beforeAll(async () => {
  owners = [await openPipeline(stack.sql), await openPipeline(stack.sql)]
})

type Input = Parameters<typeof eventFact>[2]
/** Returns what each of the two sends in a round. */
type Move = (round: number) => [event: string, input?: Input]
type Reached = (value: number) => Rule

const ROUNDS = 12
const PEOPLE = 8

const countOf =
  (event: string): Reached =>
  (value) => ({ event, metric: 'count', operator: 'greater_than_or_equal', value })
const tagOf =
  (name: string): Reached =>
  (value) => ({ tag: `${name}${value}`, operator: 'has' })
const revenue: Reached = (value) => ({ attribute: 'revenue', operator: 'greater_than_or_equal', value })

/**
 * True from when both have reached a round until both have reached the next. A save that sees only one of the two
 * misses it.
 */
const during = (reached: Reached[], round: number): Rule => ({
  all: [...reached.map((one) => one(round)), { not: { all: reached.map((one) => one(round + 1)) } }],
})
const odd = (reached: Reached[]): Rule => ({
  any: Array.from({ length: ROUNDS / 2 }, (_, n) => during(reached, n * 2 + 1)),
})

const event =
  (name: string): Move =>
  () => [name]
const tag =
  (name: string): Move =>
  (round) => ['seen', { tags: [`${name}${round}`] }]
const payment: Move = () => ['invoice_paid', { value: 1 }]

interface Race {
  moves: [Move, Move]
  /** Rules of a segment that is entered and left with the rounds, and of a segment for a single round. */
  rules: Rule[]
}

const RACES: [name: string, race: Race][] = [
  ['events of two names', of([event('a'), event('b')], [countOf('a'), countOf('b')])],
  ['events and tags', of([event('a'), tag('t')], [countOf('a'), tagOf('t')])],
  ['tags', of([tag('s'), tag('t')], [tagOf('s'), tagOf('t')])],
  ['payments and events', of([payment, event('b')], [revenue, countOf('b')])],
  // Two events in each round, so that one alone never leads from an even number to the next.
  ['events of one name', of([event('a'), event('a')], [(value) => countOf('a')(value * 2)])],
]

function of(moves: [Move, Move], reached: Reached[]): Race {
  return { moves, rules: [odd(reached), during(reached, 3), { not: during(reached, ROUNDS) }] }
}

it.each(RACES)('%s', async (_, { moves, rules }) => {
  const { businessId } = await createBusiness(stack.sql)
  for (const rule of rules) await insertSegment(stack.sql, businessId, rule)
  const [{ since }] = await stack.sql<[{ since: number }]>`select coalesce(max(id), 0)::int as since from outbox`
  for (let person = 0; person < PEOPLE; person += 1) {
    const call = (move: Move, round: number, isBatch: boolean): RequestContext => {
      const [name, input] = move(round)
      const fact = eventFact(name, { email: `${person}@x.io` }, input)
      return isBatch ? batch(businessId, [fact]) : track(businessId, fact)
    }
    // Both have the person in their caches.
    for (const owner of owners) await owner.apply(call(event('met'), 0, false))
    for (let round = 1; round <= ROUNDS; round += 1)
      await Promise.all(owners.map((owner, n) => owner.apply(call(moves[n]!, round, (round + n) % 3 === 0))))
  }
  const snapshot = await readSnapshot(stack.sql, businessId, since)
  expect(findFaults(snapshot, NOW)).toEqual([])
  const entries = Map.groupBy(snapshot.changes, ({ segmentId }) => segmentId)
  expect([...entries.values()].map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([
    2 * PEOPLE,
    2 * PEOPLE,
    ROUNDS * PEOPLE,
  ])
})
