import { addStatistic } from '../events/add-statistic.ts'
import { meaningOfName } from '../events/interpret.ts'
import { stageOf } from '../events/journey-stage.ts'
import type { SegmentFacts } from '../segments/membership/facts.ts'
import type { SimulatedEvent } from './simulate.ts'

/**
 * Returns the facts of a contact after these events, as rules see them. The events have no amounts, so the revenue
 * stays the same; so do counts and sums of the timeline.
 */
export function applyEvents(facts: SegmentFacts, events: readonly SimulatedEvent[]): SegmentFacts {
  const statistics = new Map(facts.statistics)
  for (const { event, at } of events) addStatistic(statistics, event, { firstAt: at, lastAt: at, count: 1 })
  return {
    ...facts,
    statistics,
    stage: Math.max(facts.stage, ...events.map(({ event }) => stageOf(event) ?? 0)),
    orderCount: facts.orderCount + events.filter(({ event }) => meaningOfName(event).order).length,
  }
}
