import { expect, test } from 'vitest'
import { applyEvents } from '../../../src/rules/campaigns/apply-events.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'

const FACTS: SegmentFacts = {
  createdAt: 0,
  stage: 1,
  profile: {},
  identities: [],
  subscriptions: {},
  topics: {},
  orderCount: 2,
  statistics: new Map([['seen', { firstAt: 10, lastAt: 20, count: 2 }]]),
  traits: new Map(),
  tags: new Set(),
  revenue: new Map(),
  windows: new Map(),
}

test('events are counted, and move the stage and the orders', () => {
  const heard = applyEvents(FACTS, [
    { event: 'seen', at: 30 },
    { event: 'purchase', at: 25 },
    { event: 'page_view', at: 5 },
  ])
  expect(heard.statistics).toEqual(
    new Map([
      ['seen', { firstAt: 10, lastAt: 30, count: 3 }],
      ['purchase', { firstAt: 25, lastAt: 25, count: 1 }],
      ['page_view', { firstAt: 5, lastAt: 5, count: 1 }],
    ]),
  )
  expect(heard).toMatchObject({ stage: 2, orderCount: 3 })
})

test('a stage is never left backward, and the facts stay as they were', () => {
  expect(applyEvents({ ...FACTS, stage: 4 }, [{ event: 'purchase', at: 1 }]).stage).toBe(4)
  expect(applyEvents(FACTS, [])).toEqual(FACTS)
  expect(FACTS.statistics.size).toBe(1)
})
