/** How long a preview takes, and a new segment until it is ready. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { untilQuiet } from '../measure.ts'
import { type Observed, observe } from '../observe.ts'
import { CROWD } from '../scenarios/saturation.ts'
import type { Stack } from '../stack.ts'

const RULE = {
  all: [
    { event: 'page_viewed', metric: 'last', operator: 'within_days', value: 30 },
    { not: { event: 'purchase', metric: 'count', operator: 'greater_than_or_equal', value: 3 } },
  ],
}
const PREVIEWS = 5
const LOOK_MS = 50
const LIMIT_MS = 600_000

export interface Computed {
  contacts: number
  /** Seconds of each preview that was answered. */
  previews: number[]
  /** Previews that were refused, since ClickHouse took too long. */
  refused: number
  /** From the request that creates the segment until it is ready. */
  readySeconds: number
  members: number
  observed: Observed
}

/** The contacts are those of as many live events: ClickHouse has them, too. */
export async function measureCompute(bench: Bench, contacts: number): Promise<Computed> {
  const { stack } = bench
  const callers = await bench.openCallers({ kind: 'new-contacts', prefix: 'computed-' })
  await bench.send([callers, { ...CROWD, seconds: 600, requests: contacts }])
  await untilQuiet(stack)
  const call = openCalls(stack, callers.plan({ ...CROWD, seconds: 0 }).keys[0] ?? '')
  const previewed = await previewOften(call)
  const observer = observe(stack)
  const started = performance.now()
  const members = await createAndWait(call)
  const readySeconds = (performance.now() - started) / 1000
  await untilQuiet(stack)
  const { count, previews, refused } = previewed
  if (members !== count) throw new Error(`The preview counted ${count}, and the segment has ${members} members`)
  return { contacts, previews, refused, readySeconds, members, observed: await observer.stop() }
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

interface Segment {
  segmentId: string
  status: string
  memberCount: number
}

async function createAndWait(call: Call): Promise<number> {
  const deadline = Date.now() + LIMIT_MS
  let { segment } = (await call('POST', '', { name: 'Bench', rule: RULE })).data
  while (segment.status !== 'ready') {
    if (Date.now() > deadline) throw new Error(`The segment is not ready after ${LIMIT_MS} ms`)
    await sleep(LOOK_MS)
    segment = (await call('GET', `/${segment.segmentId}`)).data.segment
  }
  return segment.memberCount
}

/** A preview has the count, a call for one segment has that. */
interface Answer {
  status: number
  data: { count: number; segment: Segment }
}

type Call = ReturnType<typeof openCalls>

/** 503 is an answer; any other refusal is not. */
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
