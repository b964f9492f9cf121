/** Measures many new segments that are created at once: until all of them are ready, and until the history is complete. */
import type { Rule } from '../../../src/rules/segments/rule.ts'
import type { Bench } from '../bench.ts'
import { type CpuByPart, startMeter } from '../cpu-meter.ts'
import { NAMES } from '../generator/traffic.ts'
import { untilQuiet } from '../measure.ts'
import { type Call, type Segment, createSegment, untilDone } from './segment-calls.ts'

/** Every fortieth segment is large, so that a few are when there are two hundred. */
const LARGE_EVERY = 40
/** Contacts filled in had their last event within this number of days. */
const SPAN_DAYS = 60
/** What the events of a crowd set; each of them is the value of one contact in twenty. */
const SEATS = [1, 5, 9, 13, 17]
const CHECKED = 4
const LOOK_MS = 250

export interface ComputedTogether {
  segments: number
  members: number
  /** Seconds from the first request that creates one until all are ready. */
  seconds: number
  /** Seconds of these in which they were created. */
  creating: number
  /** Seconds from then until the history has all members. */
  logging: number
  /** Microseconds of CPU until all are ready, and from then until ClickHouse has the history. */
  cpu: { ready: CpuByPart; logged: CpuByPart }
}

/**
 * Rules of mixed sizes: most are of 0.1 to 2 % of the contacts that are filled in, a few of 25 to 75 %. Time changes
 * the members of each.
 */
export function mixedRule(n: number): Rule {
  if (n % LARGE_EVERY === 0) {
    const large = n / LARGE_EVERY
    return { event: nameOf(large), metric: 'last', operator: 'within_days', value: (SPAN_DAYS / 4) * (1 + (large % 3)) }
  }
  const event = nameOf(n)
  const seats: Rule = { customField: 'seats', operator: 'equals', value: SEATS[n % SEATS.length] ?? 0 }
  const days = 1.2 + ((n * 7) % 23)
  return n % 2 === 0
    ? { all: [seats, { event, metric: 'last', operator: 'within_days', value: days }] }
    : { all: [seats, { event, metric: 'last', operator: 'older_than_days', value: SPAN_DAYS - days }] }
}

const nameOf = (n: number): string => NAMES[n % NAMES.length] ?? ''

export async function measureAll(bench: Bench, call: Call, segments: number): Promise<ComputedTogether> {
  const { stack } = bench
  await untilLogged(bench)
  const rules = Array.from({ length: segments }, (_, n) => mixedRule(n))
  const checked = rules.filter((_, n) => n % Math.ceil(segments / CHECKED) === 0)
  const before = await previewEach(call, checked)
  const readMeter = startMeter(stack)
  const started = performance.now()
  const ids: string[] = []
  for (const rule of rules) ids.push((await createSegment(call, rule)).segmentId)
  const createdAt = performance.now()
  const ready = await untilReady(call, new Set(ids))
  const readyAt = performance.now()
  const readyCpu = readMeter()
  const readLogMeter = startMeter(stack)
  await untilLogged(bench)
  const loggedAt = performance.now()
  await untilQuiet(stack)
  const loggedCpu = readLogMeter()
  await checkMembers(call, { rules, checked, before }, ids)
  return {
    segments,
    members: ready.reduce((sum, { memberCount }) => sum + memberCount, 0),
    seconds: (readyAt - started) / 1000,
    creating: (createdAt - started) / 1000,
    logging: (loggedAt - readyAt) / 1000,
    cpu: { ready: readyCpu, logged: loggedCpu },
  }
}

async function untilReady(call: Call, ids: ReadonlySet<string>): Promise<Segment[]> {
  let progress = ''
  const look = async () => {
    const all = (await call('GET', '')).data.segments.filter(({ segmentId }) => ids.has(segmentId))
    const ready = all.filter(({ status }) => status === 'ready')
    const least = Math.min(1, ...all.map((one) => one.progress))
    progress = `${Math.round(least * 100)} % computed, ${ready.length} of ${ids.size} segments are ready`
    return ready.length === ids.size ? all : undefined
  }
  return untilDone(look, () => progress, LOOK_MS)
}

/** Until the history has the members of all segments that are ready. */
async function untilLogged({ stack: { own } }: Bench): Promise<void> {
  let left = 0
  const look = async () => {
    const [row] = await own.sql<[{ left: number }]>`
      select count(*)::int as left from segment_rules where switched_at is not null`
    left = row.left
    return left === 0 ? true : undefined
  }
  await untilDone(look, () => `the history lacks members of ${left} segments`, LOOK_MS)
}

/** A fast but wrong result is worthless: time moves members between the two previews in one direction only. */
async function checkMembers(
  call: Call,
  { rules, checked, before }: { rules: Rule[]; checked: Rule[]; before: number[] },
  ids: string[],
): Promise<void> {
  const found: number[] = []
  for (const rule of checked) found.push((await call('GET', `/${ids[rules.indexOf(rule)]}`)).data.segment.memberCount)
  const after = await previewEach(call, checked)
  for (const [at, members] of found.entries()) {
    const counts = [before[at] ?? 0, after[at] ?? 0]
    if (members >= Math.min(...counts) && members <= Math.max(...counts)) continue
    throw new Error(`Previews counted ${counts.join(' and then ')}, and the segment had ${members} members`)
  }
}

async function previewEach(call: Call, rules: Rule[]): Promise<number[]> {
  const counts: number[] = []
  for (const rule of rules) {
    const look = async () => {
      const { status, data } = await call('POST', '/preview', { rule, sample: 0 })
      return status === 503 ? undefined : data.count
    }
    counts.push(await untilDone(look, () => 'previews are refused'))
  }
  return counts
}
