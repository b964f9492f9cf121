/** Ids that follow from the place in the stream: the same each time, in the order of the stream, and never the same twice. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ItemPlace, deriveIds, entryOf } from '../../src/stream/derive-ids.ts'

const place: fc.Arbitrary<ItemPlace> = fc.record({
  partition: fc
    .tuple(fc.constantFrom('live', 'backfill', 'web'), fc.integer({ min: 0, max: 255 }))
    .map(([kind, number]) => `${kind}-${number}`),
  streamId: fc
    .tuple(fc.integer({ min: 0, max: 2 ** 48 - 1 }), fc.integer({ min: 0, max: 3_000_000 }))
    .map((parts) => parts.join('-')),
  at: fc.integer({ min: 0, max: 2000 }),
})

describe('the ids of an item', () => {
  it('are UUIDs of version 7 with the time of the entry, and the same each time', () => {
    fc.assert(
      fc.property(place, (where) => {
        const [first, again] = [deriveIds(where), deriveIds(where)].map((newId) => [newId(), newId('event'), newId()])
        expect(first).toEqual(again)
        for (const id of first ?? []) {
          expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
          expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Number(where.streamId.split('-')[0]))
        }
      }),
    )
  })

  it('give an event the same id whatever else the decision creates', () => {
    const [alone, afterOthers] = [1, 2].map(() =>
      deriveIds({ partition: 'live-1', streamId: '1700000000000-0', at: 3 }),
    )
    for (let n = 0; n < 8000; n += 1) afterOthers?.()
    expect(afterOthers?.('event')).toBe(alone?.('event'))
  })

  it('lead back to their entry', () => {
    const where = { partition: 'backfill-255', streamId: '1700000000000-17', at: 999 }
    const newId = deriveIds(where)
    for (const id of [newId(), newId('event')])
      expect(entryOf(id)).toEqual({ partition: where.partition, streamId: where.streamId })
  })

  it('differ between places and between ids of one place', () => {
    fc.assert(
      fc.property(fc.uniqueArray(place, { selector: (one) => JSON.stringify(one), maxLength: 50 }), (places) => {
        const ids = places.map(deriveIds).flatMap((newId) => [newId(), newId(), newId('event'), newId('event')])
        expect(new Set(ids).size).toBe(ids.length)
      }),
    )
  })

  it('ascend in the order of the stream', () => {
    const at = (streamId: string, item: number) => deriveIds({ partition: 'live-0', streamId, at: item })
    const inOrder = [at('5-0', 0), at('5-0', 1), at('5-0', 999), at('5-1', 0), at('5-1000000', 0), at('6-0', 0)]
    const ids = inOrder.flatMap((newId) => [newId(), newId(), newId('event')])
    expect(ids.toSorted()).toEqual(ids)
  })
})
