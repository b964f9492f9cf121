/**
 * Measures the cost of live events without segments, and with many segments of which each event touches a few: with few
 * changes of membership and with many. All callers send the same events at the same fixed rate, so that the work that
 * does not depend on the events is the same for each.
 */
import { insertSegment } from '../../segments/segments-support.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import type { Bench, Callers } from '../bench.ts'
import { NAMES } from '../generator/traffic.ts'
import type { Measured } from '../measure.ts'
import { openPace } from '../scenarios/open-loop.ts'
import { CROWD } from '../scenarios/saturation.ts'

export const SEGMENTS = 1000
/** Few, so that the warm-up has sent every name for nearly all of them. */
const PEOPLE = { quick: 100, full: 1000 }
const WARM_UP = { quick: 4000, full: 40_000 }
/**
 * A quarter of the events set `seats` to 1, 5, 9, 13 or 17. A segment of those with more than one of these changes with
 * 0.08 to 0.12 of the events on average, and one of those with more than 17 never.
 */
const SEATS = {
  none: [],
  few: [7, 17, 18, 19],
  many: [3, 7, 11, 15],
} as const

export type Kind = keyof typeof SEATS
export const KINDS = Object.keys(SEATS) as Kind[]

export interface LiveLoad {
  measured: Measured
  /** Entries and exits in the history, per event. */
  changesPerEvent: number
}

export interface LiveCost {
  /** Events per second. */
  rate: number
  rounds: Record<Kind, LiveLoad>[]
}

/** Alternates between the kinds, because the speed of a machine changes. */
export async function measureLive(bench: Bench): Promise<LiveCost> {
  const rate = bench.length(300, 3000)
  const senders = await openSenders(bench)
  for (const { callers } of senders)
    await bench.send([callers, { ...CROWD, seconds: 600, requests: bench.length(WARM_UP.quick, WARM_UP.full) }])
  const load = { ...openPace(rate), seconds: bench.length(2, 5) }
  const rounds: LiveCost['rounds'] = []
  // The first round is not counted: after the closed loop, the runtimes compile what small micro-batches use.
  for (let round = 0; round <= bench.length(1, 5); round += 1) {
    const loads: Partial<Record<Kind, LiveLoad>> = {}
    for (const { kind, callers } of rotate(senders, round)) {
      const before = await countChanges(bench, callers)
      const measured = await bench.send([callers, load])
      loads[kind] = { measured, changesPerEvent: ((await countChanges(bench, callers)) - before) / measured.events }
    }
    if (round > 0) rounds.push(loads as Record<Kind, LiveLoad>)
  }
  return { rate, rounds }
}

interface Sender {
  kind: Kind
  callers: Callers
}

async function openSenders(bench: Bench): Promise<Sender[]> {
  const senders: Sender[] = []
  const people = bench.length(PEOPLE.quick, PEOPLE.full)
  for (const kind of KINDS) {
    const callers = await bench.openCallers({ kind: 'known', prefix: 'segment-', people })
    if (kind !== 'none') await insertTouched(bench, callers.businessIds[0] ?? '', SEATS[kind])
    senders.push({ kind, callers })
  }
  return senders
}

/** So that none is always the first. */
function rotate<One>(all: One[], by: number): One[] {
  const from = by % all.length
  return [...all.slice(from), ...all.slice(0, from)]
}

/**
 * Each event touches three segments on average: two by its name, which are evaluated again, and with every fourth event
 * four more, which may change. No event touches the others.
 */
async function insertTouched({ stack }: Bench, businessId: string, seats: readonly number[]): Promise<void> {
  const named = NAMES.flatMap((event): Rule[] => [
    { event, metric: 'last', operator: 'within_days', value: 30 },
    { event, metric: 'count', operator: 'greater_than', value: 1_000_000 },
  ])
  const touched = [...named, ...seats.map((value): Rule => ({ customField: 'seats', operator: 'greater_than', value }))]
  const others = Array.from({ length: SEGMENTS - touched.length }, (_, n): Rule => ({
    event: `never_sent_${n}`,
    metric: 'count',
    operator: 'greater_than',
    value: 2,
  }))
  for (const rule of [...touched, ...others]) await insertSegment(stack.own.sql, businessId, rule)
}

/** The history is complete, because each load is measured until everything is in ClickHouse. */
async function countChanges({ stack: { own } }: Bench, { businessIds }: Callers): Promise<number> {
  const result = await own.clickhouse.query({
    query: `select toString(count()) as changes from segment_changes
      where business_id in (${businessIds.map((id) => `toUUID('${id}')`).join(',')})`,
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ changes: string }>()
  return Number(row?.changes ?? 0)
}
