/** Calls of the segments' API, as a customer makes them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import type { Stack } from '../stack.ts'

const LOOK_MS = 50
const LIMIT_MS = 3_600_000
const SAY_MS = 10_000

export interface Segment {
  segmentId: string
  status: string
  progress: number
  memberCount: number
}

/** A preview returns the count; a call for one segment returns that segment, and a call for all returns all. */
interface Answer {
  status: number
  data: { count: number; segment: Segment; segments: Segment[] }
}

export type Call = ReturnType<typeof openCalls>

/** Accepts status 503; throws for any other refusal. */
export function openCalls({ url }: Stack, key: string) {
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

export async function createSegment(call: Call, rule: Rule): Promise<Segment> {
  return (await call('POST', '', { name: 'Bench', rule })).data.segment
}

export const say = (text: string): void => void process.stderr.write(`segments: ${text}\n`)

/**
 * Calls `look` until it returns a value, and meanwhile shows what `describe` returns. Throws when that takes too long.
 */
export async function untilDone<Value>(
  look: () => Promise<Value | undefined>,
  describe: () => string,
  lookMs = LOOK_MS,
): Promise<Value> {
  const started = performance.now()
  let saidAt = started
  for (;;) {
    const value = await look()
    if (value !== undefined) return value
    const now = performance.now()
    if (now > started + LIMIT_MS) throw new Error(`Not done after ${LIMIT_MS} ms: ${describe()}`)
    if (now > saidAt + SAY_MS) {
      say(describe())
      saidAt = now
    }
    await sleep(lookMs)
  }
}
