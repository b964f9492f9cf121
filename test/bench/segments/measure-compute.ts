/**
 * Measures previews, and the time until new segments are ready: one with many members, and one with few, which
 * ClickHouse nominates.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { untilQuiet } from '../measure.ts'
import { type Observed, observe } from '../observe.ts'
import { CROWD } from '../scenarios/saturation.ts'
import type { Stack } from '../stack.ts'
import { type FilledSize, fillContacts } from './fill-contacts.ts'

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
const LOOK_MS = 50
const LIMIT_MS = 3_600_000
const SAY_MS = 10_000

export interface Computed {
  contacts: number
  /** Seconds of each successful preview. */
  previews: number[]
  /** Number of previews that were refused because ClickHouse took too long. */
  refused: number
  many: Ready
  few: Ready
  observed: Observed
}

/** A new segment that is ready. */
export interface Ready {
  /** Seconds from the request that creates it until it is ready. */
  seconds: number
  members: number
}

/** @param events total number of events to fill in directly; null sends one live event per contact instead */
export async function measureCompute(bench: Bench, contacts: number, events: number | null): Promise<Computed> {
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
  await untilQuiet(stack)
  return { contacts, previews, refused, many, few, observed: await observer.stop() }
}

async function fill({ own }: Stack, businessId: string, size: FilledSize): Promise<void> {
  await fillContacts(own, businessId, size, (filled, all) => say(`${filled} of ${all} contacts are filled in`))
}

const say = (text: string): void => void process.stderr.write(`segments: ${text}\n`)

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

interface Segment {
  segmentId: string
  status: string
  progress: number
  memberCount: number
}

async function createAndWait(call: Call, rule: Rule): Promise<Ready> {
  const started = performance.now()
  let reportedAt = started
  let { segment } = (await call('POST', '', { name: 'Bench', rule })).data
  while (segment.status !== 'ready') {
    const now = performance.now()
    if (now > started + LIMIT_MS) throw new Error(`The segment is not ready after ${LIMIT_MS} ms`)
    if (now > reportedAt + SAY_MS) {
      say(`${Math.round(segment.progress * 100)} % of the segment are computed`)
      reportedAt = now
    }
    await sleep(LOOK_MS)
    segment = (await call('GET', `/${segment.segmentId}`)).data.segment
  }
  return { seconds: (performance.now() - started) / 1000, members: segment.memberCount }
}

/** A preview returns the count; a call for one segment returns that segment. */
interface Answer {
  status: number
  data: { count: number; segment: Segment }
}

type Call = ReturnType<typeof openCalls>

/** Accepts status 503; throws for any other refusal. */
function openCalls({ url }: Stack, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return async (method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${url}/api/segments${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    const { status } = response
    const text = await response.text()
    if (!response.ok && status !== 503) throw new Error(`${method} /api/segments${path}: ${status} ${text}`)
    return { status, data: (JSON.parse(text) as Pick<Answer, 'data'>).data }
  }
}
