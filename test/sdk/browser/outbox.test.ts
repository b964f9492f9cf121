/** The outbox of unsent calls: kept in order, limited, and shared by tabs. */
import { describe, expect, it } from 'vitest'
import {
  type Item,
  MAX_AGE_MS,
  MAX_CALLS,
  MAX_FAILURES,
  MAX_HITS,
  openOutbox,
} from '../../../src/sdk/browser/open-outbox.ts'
import { openStore } from '../../../src/sdk/browser/open-store.ts'
import { makeShelf } from './make-shelf.ts'

const NOW = 1_790_000_000_000
const item = (route: Item['route'], n: number, at = NOW): Item => ({ route, at, body: { n } })
const open = (shelf = makeShelf(), page = 'page-a', business = 'b1', now = NOW) =>
  openOutbox(
    openStore(() => shelf),
    business,
    () => now,
    page,
  )
const numbers = (outbox: ReturnType<typeof open>) => outbox.list().map(({ body }) => body['n'])

describe('the outbox', () => {
  it('lists by time, and in the order of adding within a millisecond', () => {
    const outbox = open()
    for (let n = 0; n < 20; n++) outbox.add(item('track', n))
    outbox.add(item('capture', -1, NOW - 1))
    expect(numbers(outbox)).toEqual([-1, ...Array.from({ length: 20 }, (_, n) => n)])
  })

  it('is one for all tabs and for the next page, and knows its own', () => {
    const shelf = makeShelf()
    const [a, b] = [open(shelf, 'page-a'), open(shelf, 'page-b')]
    a.add(item('track', 1))
    b.add(item('track', 2))
    expect([numbers(a), a.list().map(a.isOwn)]).toEqual([
      [1, 2],
      [true, false],
    ])
    a.list().forEach(b.remove)
    expect(a.list()).toEqual([])
  })

  it('belongs to one business', () => {
    const shelf = makeShelf()
    open(shelf, 'page-a', 'b1').add(item('track', 1))
    expect(open(shelf, 'page-a', 'b2').list()).toEqual([])
  })

  it.each([
    ['track', MAX_CALLS],
    ['identify', MAX_CALLS],
    ['capture', MAX_HITS],
  ] as const)('takes up to the limit of a kind and no more: %s', (route, most) => {
    const outbox = open()
    for (let n = 1; n < most; n++) outbox.add(item(route, n))
    expect([outbox.add(item(route, 0)), outbox.add(item(route, 0)), outbox.list().length]).toEqual([true, false, most])
    expect(outbox.add(item(route === 'capture' ? 'track' : 'capture', 0))).toBe(true)
  })

  it('drops what is too old, or was not written by the script', () => {
    const shelf = makeShelf()
    const outbox = open(shelf)
    outbox.add(item('track', 1, NOW - MAX_AGE_MS))
    outbox.add(item('track', 2, NOW - MAX_AGE_MS + 1))
    shelf.setItem('sluice_out_b1_0_broken_track', '{')
    shelf.setItem('sluice_out_b1_0_null_track', 'null')
    shelf.setItem('other', 'kept')
    expect(numbers(outbox)).toEqual([2])
    expect(Object.keys(shelf)).toHaveLength(2)
  })

  it('gives up what fails repeatedly', () => {
    const outbox = open()
    outbox.add(item('track', 1))
    for (let n = 1; n < MAX_FAILURES; n++) outbox.list().forEach(outbox.fail)
    expect(outbox.list()).toMatchObject([{ failures: MAX_FAILURES - 1 }])
    outbox.list().forEach(outbox.fail)
    expect(outbox.list()).toEqual([])
  })

  it('does not bring back what another tab has sent', () => {
    const outbox = open()
    outbox.add(item('track', 1))
    const [sent] = outbox.list()
    outbox.remove(sent!)
    outbox.fail(sent!)
    expect(outbox.list()).toEqual([])
  })

  it('drops what is too old of another business too, and leaves the rest', () => {
    const shelf = makeShelf()
    const other = open(shelf, 'page-a', 'b2')
    other.add(item('identify', 1, NOW - MAX_AGE_MS))
    other.add(item('identify', 2, NOW - MAX_AGE_MS + 1))
    expect(numbers(open(shelf))).toEqual([])
    expect([Object.keys(shelf).length, numbers(other)]).toEqual([1, [2]])
  })

  it('is cleared with what waits for another business', () => {
    const shelf = makeShelf()
    open(shelf, 'page-a', 'b2').add(item('identify', 1))
    open(shelf).clear()
    expect(Object.keys(shelf)).toEqual([])
  })

  it('is cleared as a whole, and nothing else with it', () => {
    const shelf = makeShelf()
    const outbox = open(shelf)
    outbox.add(item('track', 1))
    outbox.add(item('capture', 2))
    shelf.setItem('other', 'kept')
    outbox.clear()
    expect(Object.keys(shelf)).toEqual(['other'])
  })
})
