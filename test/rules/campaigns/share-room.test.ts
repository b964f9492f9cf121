import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dropDone, rotationOf, shareRoom } from '../../../src/rules/campaigns/share-room.ts'
import { runs } from '../../support/runs.ts'

const due = (...names: string[]) => names.map((name) => ({ businessId: name.slice(0, 1), campaignId: name }))
const ANY_ROOM = () => Infinity
const share = (names: string[], most: number, roomOf: (businessId: string) => number = ANY_ROOM) =>
  Object.fromEntries(
    shareRoom(rotationOf(due(...names)), most, roomOf).map(({ campaignId, room }) => [campaignId, room]),
  )

describe('the room of a claim', () => {
  it('is all of the only campaign', () => {
    expect(share(['a1'], 64)).toEqual({ a1: 64 })
    expect(share([], 64)).toEqual({})
  })

  it('is shared by businesses first, then by the campaigns of each', () => {
    expect(share(['a1', 'a2', 'a3', 'b1'], 12)).toEqual({ a1: 2, a2: 2, a3: 2, b1: 6 })
  })

  it('goes on where the last claim ended', () => {
    const rotation = rotationOf(due('a1', 'a2', 'b1', 'c1'))
    const order = Array.from({ length: 6 }, () => shareRoom(rotation, 1, ANY_ROOM)[0]?.campaignId)
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b1', 'c1'])
  })

  it('passes over a business that has as much in flight as it may', () => {
    expect(share(['a1', 'b1'], 10, (businessId) => (businessId === 'a' ? 2 : 100))).toEqual({ a1: 2, b1: 8 })
    expect(share(['a1', 'b1'], 10, () => 0)).toEqual({})
    expect(share(['a1', 'b1'], 10, (businessId) => (businessId === 'a' ? 0 : 3))).toEqual({ b1: 3 })
  })

  it('is not kept for campaigns that have nothing more', () => {
    const rotation = dropDone(rotationOf(due('a1', 'a2', 'b1')), due('a2', 'b1'))
    expect(shareRoom(rotation, 4, ANY_ROOM)).toEqual([{ businessId: 'a', campaignId: 'a1', room: 4 }])
  })
})

it('over many claims no campaign of a business has more than one place more than another', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 })
  const rooms = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(sizes, rooms, (many, claims) => {
      const names = many.flatMap((count, at) => Array.from({ length: count }, (_, n) => `${'abcdef'[at]}${n}`))
      const rotation = rotationOf(due(...names))
      const given = new Map(names.map((name) => [name, 0]))
      for (const most of claims) {
        const shares = shareRoom(rotation, most, ANY_ROOM)
        expect(shares.reduce((sum, { room }) => sum + room, 0)).toBe(most)
        for (const { campaignId, room } of shares) given.set(campaignId, given.get(campaignId)! + room)
      }
      const spread = (counts: number[]) => Math.max(...counts) - Math.min(...counts)
      const ofBusinesses = [...Map.groupBy(given, ([name]) => name.slice(0, 1)).values()].map((all) =>
        all.map(([, room]) => room),
      )
      for (const counts of ofBusinesses) expect(spread(counts)).toBeLessThanOrEqual(1)
      expect(spread(ofBusinesses.map((counts) => counts.reduce((sum, room) => sum + room, 0)))).toBeLessThanOrEqual(1)
    }),
    { numRuns: runs(200) },
  )
})
