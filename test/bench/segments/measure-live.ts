/** Measures the cost of live events without segments, and with many segments of which each event touches a few. */
import { insertSegment } from '../../segments/segments-support.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import type { Bench, Callers } from '../bench.ts'
import { NAMES } from '../generator/traffic.ts'
import type { Measured } from '../measure.ts'
import { CROWD } from '../scenarios/saturation.ts'

export const SEGMENTS = 1000
/** Few, so that the warm-up has sent every name for nearly all of them. */
const PEOPLE = 1000
/** A quarter of the events set `seats` to 1, 5, 9, 13 or 17: an event changes 0.4 memberships on average. */
const SEATS = [3, 7, 11, 15]

export interface LiveCost {
  without: Measured
  within: Measured
  /** Microseconds per event for each round, without and with segments. */
  rounds: [number, number][]
}

/** Alternates between the two, because the speed of a machine changes. Returns the rounds with median cost. */
export async function measureLive(bench: Bench): Promise<LiveCost> {
  const [plain, segmented] = [await openKnown(bench), await openKnown(bench)]
  await insertTouched(bench, segmented.businessIds[0] ?? '')
  const warm = { ...CROWD, seconds: 600, requests: bench.length(2000, 40_000) }
  for (const callers of [plain, segmented]) await bench.send([callers, warm])
  const without: Measured[] = []
  const within: Measured[] = []
  for (let round = 0; round < bench.length(1, 3); round += 1) {
    without.push(await bench.send([plain, { ...CROWD, seconds: bench.length(1, 6) }]))
    within.push(await bench.send([segmented, { ...CROWD, seconds: bench.length(1, 6) }]))
  }
  const rounds = without.map((one, at): [number, number] => [one.cpuTotal, within[at]?.cpuTotal ?? 0])
  return { without: medianOf(without), within: medianOf(within), rounds }
}

const openKnown = (bench: Bench): Promise<Callers> =>
  bench.openCallers({ kind: 'known', prefix: 'segment-', people: PEOPLE })

/**
 * Each event touches three segments on average: two by its name, which are evaluated again, and with every fourth event
 * four more, of which one or two change. No event touches the others.
 */
async function insertTouched({ stack }: Bench, businessId: string): Promise<void> {
  const named = NAMES.flatMap((event): Rule[] => [
    { event, metric: 'last', operator: 'within_days', value: 30 },
    { event, metric: 'count', operator: 'greater_than', value: 1_000_000 },
  ])
  const touched = [...named, ...SEATS.map((value): Rule => ({ customField: 'seats', operator: 'greater_than', value }))]
  const others = Array.from({ length: SEGMENTS - touched.length }, (_, n): Rule => ({
    event: `never_sent_${n}`,
    metric: 'count',
    operator: 'greater_than',
    value: 2,
  }))
  for (const rule of [...touched, ...others]) await insertSegment(stack.own.sql, businessId, rule)
}

function medianOf(all: Measured[]): Measured {
  const sorted = all.toSorted((a, b) => a.cpuTotal - b.cpuTotal)
  const median = sorted[Math.floor(sorted.length / 2)]
  if (!median) throw new Error('Nothing was measured')
  return median
}
