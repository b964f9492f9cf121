/**
 * Collects the requests of each business, and writes them to Redis a few times a second. Recording a request only
 * copies references. Only the requests that are kept are redacted and written, and their number is limited. Requests
 * that Redis does not accept are dropped and counted.
 */
import type { Logger } from '../log.ts'
import type { Redis } from '../stores/redis.ts'
import { type AnsweredRequest, type Taken, recordRequest, takeRequest } from './recorded-request.ts'
import { type Line, writeEntry } from './request-store.ts'

/**
 * Milliseconds between two flushes. A page shows a request within a second: this is one half, and the time between two
 * requests of the page is the other.
 */
const FLUSH_MS = 500
/** Requests kept per business and flush. */
export const MAX_KEPT = { refusals: 50, successes: 25 }
/** Requests kept per flush for all businesses together. Each business may keep one even beyond that. */
const MAX_ALL = { refusals: 200, successes: 40 }
const MAX_BUSINESSES = 500
/** Maximum size of the entry of one business and flush. */
const MAX_ENTRY_BYTES = 64 * 1024

export interface RequestRecorder {
  /** Call it after the answer was made. */
  record(route: string, context: AnsweredRequest, status: number, ms: number): void
  close(): Promise<void>
}

interface Pending {
  refusals: Taken[]
  successes: Taken[]
  omitted: number
}

interface Deps {
  redis: Redis
  log: Logger
  dropped: { inc(by: number): void }
}

export function recordRequests({ redis, log, dropped }: Deps): RequestRecorder {
  let pending = new Map<string, Pending>()
  let keptCounts = { refusals: 0, successes: 0 }
  let flushing: Promise<void> | undefined
  const timer = setInterval(() => {
    if (flushing === undefined && pending.size > 0) {
      flushing = flush().finally(() => {
        flushing = undefined
      })
    }
  }, FLUSH_MS)
  timer.unref()

  async function flush(): Promise<void> {
    const batch = pending
    pending = new Map()
    keptCounts = { refusals: 0, successes: 0 }
    // All at once, so that the commands are sent to Redis together.
    await Promise.all([...batch].map(([businessId, one]) => writeOrDrop(businessId, one)))
  }
  async function writeOrDrop(businessId: string, one: Pending): Promise<void> {
    try {
      await write(redis, businessId, one)
    } catch (error) {
      dropped.inc(one.refusals.length + one.successes.length)
      log.debug({ err: error, businessId }, 'the last requests of a business could not be kept')
    }
  }

  const pendingOf = (businessId: string): Pending | undefined => {
    let one = pending.get(businessId)
    if (one === undefined && pending.size < MAX_BUSINESSES) {
      one = { refusals: [], successes: [], omitted: 0 }
      pending.set(businessId, one)
    }
    return one
  }

  return {
    record(route, context, status, ms) {
      const { businessId } = context
      const one = businessId === null ? undefined : pendingOf(businessId)
      if (one === undefined) return
      const kind = status < 400 ? 'successes' : 'refusals'
      const list = one[kind]
      if (list.length >= MAX_KEPT[kind] || (keptCounts[kind] >= MAX_ALL[kind] && list.length > 0)) one.omitted += 1
      else {
        keptCounts[kind] += 1
        list.push(takeRequest(route, context, status, ms))
      }
    },
    async close() {
      clearInterval(timer)
      await flushing
      await flush()
    },
  }
}

async function write(redis: Redis, businessId: string, { refusals, successes, omitted }: Pending) {
  const requests: Line[] = []
  let bytes = 0
  // Refusals first, so that they are kept when an entry becomes too large.
  for (const taken of [...refusals, ...successes]) {
    const json = JSON.stringify(recordRequest(taken, requests.length))
    bytes += json.length
    if (bytes > MAX_ENTRY_BYTES) break
    requests.push({ contactId: taken.contactId, json })
  }
  const left = refusals.length + successes.length - requests.length
  await writeEntry(redis, businessId, { requests, omitted: omitted + left })
}
