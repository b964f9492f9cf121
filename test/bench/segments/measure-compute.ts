/**
 * Measures previews, and the time until new segments are ready: one with many members, one with few, which ClickHouse
 * nominates, and many at once.
 */
import type { Bench } from '../bench.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { untilQuiet } from '../measure.ts'
import { type Observed, observe } from '../observe.ts'
import { CROWD } from '../scenarios/saturation.ts'
import type { Stack } from '../stack.ts'
import { type FilledSize, fillContacts } from './fill-contacts.ts'
import { type ComputedTogether, measureAll } from './measure-all.ts'
import { type Call, createSegment, openCalls, say, untilDone } from './segment-calls.ts'

const RULE: Rule = {
  all: [
    { event: 'page_viewed', metric: 'last', operator: 'within_days', value: 30 },
    { not: { event: 'purchase', metric: 'count', operator: 'greater_than_or_equal', value: 3 } },
  ],
}
/** One or two contacts in a hundred. */
const RARE: Rule = {
  all: [
    { customField: 'seats', operator: 'equals', value: 1 },
    { event: 'searched', metric: 'last', operator: 'within_days', value: 10 },
  ],
}
const PREVIEWS = 5

export interface ComputeSizes {
  contacts: number
  /** Total number of events to fill in directly. Null: one live event per contact is sent instead. */
  events: number | null
  /** Number of segments that are created at once. */
  segments: number
}

export interface Computed {
  contacts: number
  /** Seconds of each successful preview. */
  previews: number[]
  /** Number of previews that were refused because ClickHouse took too long. */
  refused: number
  many: Ready
  few: Ready
  all: ComputedTogether
  observed: Observed
}

/** A new segment that is ready. */
export interface Ready {
  /** Seconds from the request that creates it until it is ready. */
  seconds: number
  members: number
}

export async function measureCompute(bench: Bench, { contacts, events, segments }: ComputeSizes): Promise<Computed> {
  const { stack } = bench
  const callers = await bench.openCallers({ kind: 'new-contacts', prefix: 'computed-' })
  if (events === null) await bench.send([callers, { ...CROWD, seconds: 600, requests: contacts }])
  else await fill(stack, callers.businessIds[0] ?? '', { contacts, events })
  await untilQuiet(stack)
  const call = openCalls(stack, callers.plan({ ...CROWD, seconds: 0 }).keys[0] ?? '')
  const { count, previews, refused } = await previewOften(call)
  const observer = observe(stack)
  const many = await createAndWait(call, RULE)
  await untilQuiet(stack)
  // In the meantime, the passing time removes contacts but adds none.
  const later = (await previewOften(call)).count
  if (many.members > count || many.members < later)
    throw new Error(`Previews counted ${count} and then ${later}, and the segment had ${many.members} members`)
  const few = await createAndWait(call, RARE)
  const all = await measureAll(bench, call, segments)
  return { contacts, previews, refused, many, few, all, observed: await observer.stop() }
}

async function fill({ own }: Stack, businessId: string, size: FilledSize): Promise<void> {
  await fillContacts(own, businessId, size, (filled, all) => say(`${filled} of ${all} contacts are filled in`))
}

async function previewOften(call: Call): Promise<Pick<Computed, 'previews' | 'refused'> & { count: number }> {
  const previews: number[] = []
  let count = 0
  for (let n = 0; n < PREVIEWS; n += 1) {
    const started = performance.now()
    const { status, data } = await call('POST', '/preview', { rule: RULE })
    if (status === 503) continue
    count = data.count
    previews.push((performance.now() - started) / 1000)
  }
  if (previews.length === 0) throw new Error('Every preview was refused')
  return { count, previews, refused: PREVIEWS - previews.length }
}

async function createAndWait(call: Call, rule: Rule): Promise<Ready> {
  const started = performance.now()
  let segment = await createSegment(call, rule)
  const look = async () => {
    segment = (await call('GET', `/${segment.segmentId}`)).data.segment
    return segment.status === 'ready' ? segment : undefined
  }
  const { memberCount } = await untilDone(
    look,
    () => `${Math.round(segment.progress * 100)} % of the segment are computed`,
  )
  return { seconds: (performance.now() - started) / 1000, members: memberCount }
}
