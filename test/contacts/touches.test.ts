/** A touch, each time a browser comes to the site: one touch, however often and in whatever order it is reported. */
import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'
import type { Touch } from '../../src/rules/events/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const MINUTE = 60_000
const V = 'a'.repeat(32)
const stack = useOpened(openStack)
let businessId: string
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

const touchAt = (at: number, source = 'news'): Touch => ({ at, url: 'https://shop.example/', utm: { source } })

interface Sighting {
  visitor_id?: string
  seen_at?: number
  first_touch?: Touch
  latest_touch?: Touch
}
async function see(...reported: Sighting[]): Promise<void> {
  const sightings = reported.map((one) => ({ business_id: businessId, visitor_id: V, seen_at: 5, ...one }))
  await stack.sql`select see_visitors(${JSON.stringify(sightings)}::text::json)`
}
async function touchesOf(visitorId = V): Promise<[source: string, at: number][]> {
  const rows = await stack.sql<{ source: string; at: number }[]>`
    select touch #>> '{utm,source}' as source, at from visitor_touches
    where business_id = ${businessId} and visitor_id = ${visitorId} order by at, source`
  return rows.map(({ source, at }) => [source, at])
}
const stateOf = async () => {
  const rows = await stack.sql`
    select revision, first_touch, latest_touch, (select count(*) from outbox) as outbox from visitors where business_id = ${businessId}`
  return rows[0]
}

it('a touch reported again within 30 minutes is the same; later, it is another', async () => {
  await see({ first_touch: touchAt(0) })
  await see({ latest_touch: touchAt(30 * MINUTE) })
  expect(await touchesOf()).toEqual([['news', 0]])
  await see({ latest_touch: touchAt(60 * MINUTE + 1) })
  expect(await touchesOf()).toEqual([
    ['news', 0],
    ['news', 60 * MINUTE + 1],
  ])
})

it('a touch with another content is another at once', async () => {
  await see({ first_touch: touchAt(7), latest_touch: touchAt(7, 'ad') })
  expect(await touchesOf()).toEqual([
    ['ad', 7],
    ['news', 7],
  ])
})

it('a repeat changes nothing: no revision, nothing to ship', async () => {
  await see({ first_touch: touchAt(0), latest_touch: touchAt(100) })
  const before = await stateOf()
  for (const at of [0, 100, 42, 20 * MINUTE]) await see({ first_touch: touchAt(at), latest_touch: touchAt(at) })
  expect(await stateOf()).toEqual(before)
  expect(before).toMatchObject({ first_touch: touchAt(0), latest_touch: touchAt(0) })
})

it('the latest touch is the latest one with a source', async () => {
  await see({ first_touch: touchAt(5), latest_touch: { at: 900 * MINUTE, url: 'https://shop.example/' } })
  expect(await stateOf()).toMatchObject({ first_touch: touchAt(5), latest_touch: touchAt(5) })
})

it('the first touch and the newest 200 stay', async () => {
  const many = Array.from({ length: 201 }, (_, n) => ({ latest_touch: touchAt(n, `s${n}`) }))
  await see(...many)
  expect(await touchesOf()).toHaveLength(201)
  await see({ latest_touch: touchAt(201, 's201') })
  const kept = await touchesOf()
  expect(kept).toHaveLength(201)
  expect(kept.slice(0, 2)).toEqual([
    ['s0', 0],
    ['s2', 2],
  ])
  await see({ latest_touch: touchAt(1, 's1') })
  expect(await touchesOf()).toEqual(kept)
})

/**
 * Unites reports into touches: those with the same content, each within 30 minutes of the next, are one touch at the
 * instant of the first.
 */
function uniteTouches(reported: Touch[]): [string, number][] {
  const bySource = Map.groupBy(reported, ({ utm }) => utm?.source ?? '')
  const united = [...bySource].flatMap(([source, touches]) => {
    const times = touches.map(({ at }) => at).toSorted((a, b) => a - b)
    return times
      .filter((at, n) => n === 0 || at - (times[n - 1] ?? 0) > 30 * MINUTE)
      .map((at): [string, number] => [source, at])
  })
  return united.toSorted((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
}

it('order, repetition and cutting make no difference', async () => {
  const touch = fc.record({ at: fc.integer({ min: 0, max: 12 }), source: fc.constantFrom('a', 'b') })
  const report = fc.tuple(touch, fc.option(touch), fc.constantFrom(V, 'b'.repeat(32)))
  const cut = fc.array(fc.array(report, { minLength: 1, maxLength: 4 }), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(cut, async (calls) => {
      ;({ businessId } = await createBusiness(stack.sql))
      const toTouch = ({ at, source }: { at: number; source: string }) => touchAt(at * 10 * MINUTE, source)
      for (const call of calls)
        await see(
          ...call.map(([first, latest, visitor_id]) => ({
            visitor_id,
            first_touch: toTouch(first),
            ...(latest && { latest_touch: toTouch(latest) }),
          })),
        )
      for (const visitor of [V, 'b'.repeat(32)]) {
        const reported = calls
          .flat()
          .filter(([, , id]) => id === visitor)
          .flatMap(([first, latest]) => [first, ...(latest ? [latest] : [])].map(toTouch))
        expect(await touchesOf(visitor)).toEqual(uniteTouches(reported))
      }
    }),
    { numRuns: runs(60) },
  )
})
