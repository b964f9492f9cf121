/** Funnels equal a search through every attempt of every person. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { FUNNEL_ORDERS, type FunnelQuery } from '../../src/analytics/funnel-sql.ts'
import { readFunnel, readFunnelContacts } from '../../src/analytics/funnel.ts'
import { runs } from '../support/runs.ts'
import { addContact, newBusiness, openLab, save, shipAll } from '../timeline/lab.ts'
import { BEGAN, type Happened, NAMES, readerOf, assertHistories } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const lab = useOpened(openLab)

type Step = FunnelQuery['steps'][number]
const isStep = ({ event, where }: Step, one: Pick<Happened, 'event' | 'plan'>) =>
  one.event === event && (where.length === 0 || one.plan === 'pro')

/** Returns the events of one person's best attempt. The events of `events` must be in order. */
function bestAttempt(events: Happened[], query: FunnelQuery): Happened[] {
  return query.order === 'any' ? bestInAnyOrder(events, query) : bestInOrder(events, query)
}

function bestInOrder(events: Happened[], { steps, order, windowMs, period }: FunnelQuery): Happened[] {
  let chains = events.flatMap((one, place) =>
    isStep(steps[0]!, one) && one.occurred_ms >= period.from && one.occurred_ms < period.to ? [[place]] : [],
  )
  let best: number[] = []
  for (let step = 1; chains.length > 0; step += 1) {
    // Prefers the chain that ends first; among equal ones, the chain whose other steps happened last, compared from the
    // end.
    ;[best = []] = chains.toSorted((one, other) => {
      const ends = one.at(-1)! - other.at(-1)!
      if (ends !== 0) return ends
      for (let at = step - 2; at >= 0; at -= 1) if (one[at] !== other[at]) return other[at]! - one[at]!
      return 0
    })
    if (step === steps.length) break
    chains = chains.flatMap((chain) =>
      events.flatMap((one, place) => {
        const isNext = order === 'strict' ? place === chain.at(-1)! + 1 : place > chain.at(-1)!
        const isInTime = one.occurred_ms - events[chain[0]!]!.occurred_ms <= windowMs
        return isNext && isInTime && isStep(steps[step]!, one) ? [[...chain, place]] : []
      }),
    )
  }
  return best.map((place) => events[place]!)
}

function bestInAnyOrder(events: Happened[], { steps, windowMs, period }: FunnelQuery): Happened[] {
  const meant = events.filter((one) => steps.some((step) => isStep(step, one)))
  const attempts = meant.flatMap((first, place) => {
    if (first.occurred_ms < period.from || first.occurred_ms >= period.to) return []
    const done = steps.flatMap((step) => meant.slice(place).find((one) => isStep(step, one)) ?? [])
    const inTime = done.filter((one) => one.occurred_ms - first.occurred_ms <= windowMs)
    return [inTime.toSorted((one, other) => one.occurred_ms - other.occurred_ms)]
  })
  const [best = []] = attempts.toSorted((one, other) => {
    if (one.length !== other.length) return other.length - one.length
    const differs = one.findIndex((event, at) => event.occurred_ms !== other[at]!.occurred_ms)
    return differs < 0 ? 0 : one[differs]!.occurred_ms - other[differs]!.occurred_ms
  })
  return best
}

function medianOf(numbers: number[]): number | null {
  const sorted = numbers.toSorted((one, other) => one - other)
  if (sorted.length === 0) return null
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const step: fc.Arbitrary<Step> = fc.record({
  event: fc.constantFrom(...NAMES),
  where: fc.constantFrom([], [], [{ property: 'plan', operator: 'equals' as const, value: 'pro' }]),
})
const funnel: fc.Arbitrary<FunnelQuery> = fc
  .record({
    steps: fc.array(step, { minLength: 2, maxLength: 4 }),
    order: fc.constantFrom(...FUNNEL_ORDERS),
    windowMs: fc.constantFrom(3_600_000, DAY, 7 * DAY, 60 * DAY),
    period: fc.tuple(fc.integer({ min: -1, max: 30 }), fc.integer({ min: 1, max: 50 })).map(([from, days]) => ({
      from: BEGAN + from * DAY,
      to: BEGAN + (from + days) * DAY,
    })),
  })
  .filter(({ steps, order }) => order !== 'any' || new Set(steps.map(({ event }) => event)).size === steps.length)

it('equals a search through every attempt', async () => {
  await assertHistories(
    lab,
    runs(7),
    fc.array(funnel, { minLength: 4, maxLength: 4 }),
    async ({ businessId, events }, funnels) => {
      for (const query of funnels) {
        const attempts = [...Map.groupBy(events, ({ contact }) => contact)].map(([id, those]) => ({
          id,
          done: bestAttempt(those, query).map(({ occurred_ms: at }) => at),
        }))
        const reached = query.steps.map((_, at) => attempts.filter(({ done }) => done.length > at))
        const found = await readFunnel(readerOf(lab), businessId, query)
        expect(found).toEqual(
          query.steps.map((_, at) => {
            const contacts = reached[at]!.length
            const before = reached[at - 1]?.length ?? contacts
            const gaps = at === 0 ? [] : reached[at]!.map(({ done }) => done[at]! - done[at - 1]!)
            const median = medianOf(gaps)
            return {
              contacts,
              conversion: reached[0]!.length === 0 ? null : contacts / reached[0]!.length,
              stepConversion: before === 0 ? null : contacts / before,
              dropped: at === query.steps.length - 1 ? 0 : contacts - reached[at + 1]!.length,
              medianSeconds: median === null ? null : median / 1000,
            }
          }),
        )
        for (const outcome of ['reached', 'dropped'] as const) {
          const those = await readFunnelContacts(readerOf(lab), businessId, query, { step: 1, outcome, limit: 100 })
          const expected = attempts
            .filter(({ done }) => (outcome === 'dropped' ? done.length === 1 : done.length >= 1))
            .map(({ id, done }) => ({ id, at: done[0]! }))
          const newestFirst = (one: { id: string; at: number }, other: { id: string; at: number }) =>
            other.at - one.at || (one.id < other.id ? 1 : -1)
          expect(those).toEqual(expected.toSorted(newestFirst))
        }
      }
    },
  )
})

it('reads its list page by page', async () => {
  const businessId = newBusiness()
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1) ids.push(await addContact(lab, businessId))
  await save(
    lab,
    businessId,
    // Two contacts at each instant.
    ids.map((contact_id, n) => ({ contact_id, event: 'signup', occurred_ms: BEGAN + Math.floor(n / 2) * 1000 })),
  )
  await shipAll(lab)
  const query: FunnelQuery = {
    steps: [
      { event: 'signup', where: [] },
      { event: 'purchase', where: [] },
    ],
    order: 'in_order',
    windowMs: DAY,
    period: { from: BEGAN, to: BEGAN + DAY },
  }
  const page = async (before?: { at: number; id: string }) =>
    await readFunnelContacts(readerOf(lab), businessId, query, {
      step: 1,
      outcome: 'dropped',
      limit: 2,
      ...(before && { before }),
    })
  const first = await page()
  const second = await page(first[1])
  const third = await page(second[1])
  expect([first.length, second.length, third.length]).toEqual([3, 3, 1])
  const listed = [...first.slice(0, 2), ...second.slice(0, 2), ...third].map(({ id }) => id)
  expect(listed.toSorted()).toEqual(ids.toSorted())
  expect(listed[0]).toBe(ids[4])
})
