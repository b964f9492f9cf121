/**
 * Measures the front door's cost of keeping requests for the page "Live requests": CPU per event at several rates, from
 * accepting an event to writing it to Redis. `bun test/bench/measure-live.ts [--redis URL]`; without a URL it starts
 * its own Redis.
 */
import { rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEngines } from '../../src/embedded/engines.ts'
import type { RequestContext } from '../../src/front-door/app-context.ts'
import { type RequestRecorder, recordRequests } from '../../src/request-log/record-requests.ts'
import { createLogger } from '../../src/log.ts'
import { connectRedis, whenReady } from '../../src/stores/redis.ts'
import { makeFolder } from './make-folder.ts'

export const MAX_MICROSECONDS = 3
/**
 * The number of requests kept per second is limited, so it does not grow with the rate. At low rates each event costs
 * more, but the front door has time.
 */
const CASES = [
  { businesses: 1, rate: 5000 },
  { businesses: 20, rate: 5000 },
] as const
const SECONDS = 8
const TICK_MS = 10

const log = createLogger({ level: 'silent', name: 'bench' })

export interface LiveFigure {
  businesses: number
  rate: number
  /** CPU time per event, without the cost of sending. */
  microseconds: number
}

export async function measureLive(redisUrl: string, seconds = SECONDS): Promise<LiveFigure[]> {
  const redis = connectRedis(redisUrl, 'command')
  const figures: LiveFigure[] = []
  try {
    await whenReady(redis, 10_000)
    const nothing: RequestRecorder = { record: () => undefined, close: () => Promise.resolve() }
    // The runtime compiles during the first second.
    const first = recordRequests({ redis, log, dropped: { inc: () => undefined } })
    await send(first, idsOf(1), { rate: 1000, seconds: 2 })
    for (const { businesses, rate } of CASES) {
      const ids = idsOf(businesses)
      const without = await send(nothing, ids, { rate, seconds })
      let dropped = 0
      const recorder = recordRequests({ redis, log, dropped: { inc: (by) => (dropped += by) } })
      const withIt = await send(recorder, ids, { rate, seconds })
      if (dropped > 0) throw new Error(`Redis did not take ${dropped} requests`)
      figures.push({ businesses, rate, microseconds: (withIt - without) / (rate * seconds) })
    }
  } finally {
    redis.disconnect()
  }
  return figures
}

/** Random ids. The kept requests expire after an hour. */
const idsOf = (count: number): string[] => Array.from({ length: count }, () => crypto.randomUUID())

export const describeFigure = ({ businesses, rate }: LiveFigure): string =>
  `${rate.toLocaleString('en')} events/s of ${businesses === 1 ? '1 business' : `${businesses} businesses`}`

/** Returns the CPU time of this process in microseconds, until everything is written. */
async function send(
  recorder: RequestRecorder,
  businesses: readonly string[],
  { rate, seconds }: { rate: number; seconds: number },
): Promise<number> {
  const before = process.cpuUsage()
  const began = performance.now()
  const all = rate * seconds
  for (let sent = 0; sent < all;) {
    const due = Math.min(all, Math.floor(((performance.now() - began) * rate) / 1000))
    for (; sent < due; sent += 1) {
      recorder.record('/api/sdk/track', requestOf(businesses[sent % businesses.length] ?? '', sent), 200, 4.2)
    }
    await sleep(TICK_MS)
  }
  await recorder.close()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** A typical request, with the fields that the recorder reads. */
function requestOf(businessId: string, n: number): RequestContext {
  const contactId = '01a1faab-47e7-7416-8cea-3a7088ba4c12'
  const data = { contactId, event: 'lesson_booked', isNew: false, deduped: false, interpreted: { type: null } }
  const taken: Partial<RequestContext> = {
    request: REQUEST,
    params: {},
    requestId: `req-${n}`,
    businessId,
    keyHint: 'a1b2',
    body: {
      event: 'lesson_booked',
      identity: { email: `person-${n}@example.com` },
      properties: { teacher: 'Ada', level: 'B2', minutes: 45, room: 'blue', online: true },
    },
    bodyBytes: 400,
    reply: { message: 'The event is recorded.', data },
    rejection: null,
    rejectionCode: '',
    receivedAt: Date.now(),
  }
  return taken as RequestContext
}

const REQUEST = new Request('http://127.0.0.1:8080/api/sdk/track', { method: 'POST' })

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { redis: { type: 'string' } } })
  const folder = values.redis === undefined ? await makeFolder() : undefined
  const engines =
    folder === undefined ? undefined : await startEngines(folder, { log, only: ['redisUrl'], small: true })
  try {
    const figures = await measureLive(values.redis ?? engines?.redisUrl ?? '')
    for (const one of figures)
      console.log(`${describeFigure(one)}: ${one.microseconds.toFixed(2)} µs an event (at most ${MAX_MICROSECONDS})`)
    process.exitCode = figures.every(({ microseconds }) => microseconds <= MAX_MICROSECONDS) ? 0 : 1
  } finally {
    await engines?.stop()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await main()
