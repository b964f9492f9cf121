/** The items of a micro-batch: the request itself decides whose they are, and how far they are believed. */
import { expect, it } from 'vitest'
import type { IngestRequest } from '../../src/stream/entry.ts'
import { workOf } from '../../workers/work.ts'
import { NOW, batch, eventFact, track } from '../support/facts.ts'

const [MINE, THEIRS] = ['0190a000-0000-7000-8000-000000000001', '0190a000-0000-7000-8000-000000000002']
const FACT = eventFact('viewed', { email: 'ann@x.io' })

const itemsOf = (request: object) =>
  workOf({
    partition: 'live-0',
    epoch: 1,
    from: '0-0',
    to: '1-0',
    requests: [{ streamId: '1-0', frontDoor: 'f', request: { n: 1, requestId: 'r', ...request } as IngestRequest }],
  } as unknown as Parameters<typeof workOf>[0]).map(({ item }) => item)

it('a request is its own item, with two fields more', () => {
  const request = track(MINE, FACT)
  expect(itemsOf(request)).toEqual([{ n: 1, requestId: 'r', ...request, index: null, isReplay: false }])
  expect(itemsOf({ ...request, replayOf: 'd' })).toMatchObject([{ kind: 'track', isReplay: true }])
})

it('a row of a batch cannot say whose it is, how it came or what it is', () => {
  const { items, ...request } = batch(MINE, [FACT]) as { items: object[] }
  const foreign = { businessId: THEIRS, keyed: false, isReplay: true, kind: 'erase', source: 'live', receivedAt: 1 }
  const rows = items.map((item) => ({ ...item, ...foreign }))
  expect(itemsOf({ ...request, items: rows })).toEqual([
    {
      kind: 'track',
      source: 'batch',
      businessId: MINE,
      keyed: true,
      isReplay: false,
      receivedAt: NOW,
      index: 0,
      fact: FACT,
    },
  ])
})
