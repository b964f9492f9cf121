/**
 * Limits the backlog of a partition. Both limits count bytes of requests: one limit for the partition, and a quarter of
 * it for one business. The counters are stored in Redis, next to the stream. Appends return them, and the front door
 * polls only the counters that make it reject requests.
 */
import type { Redis } from '../../stores/redis.ts'
import { backlogKey } from '../keys.ts'

const SHARE_OF_ONE_BUSINESS = 1 / 4
const POLL_MS = 100
/** Older values are ignored: the backlog of the business may have been applied since then. */
const FRESH_MS = 1000

const TOTAL = 'total'

interface Counter {
  /** Bytes on their way into the stream. */
  sending: number
  /** Bytes in the stream, as last reported by Redis. */
  waiting: number
  /** Time of the last report, by `performance.now()`. */
  updatedAt: number
}

export interface Backlog {
  /** Returns true when these bytes would exceed a limit. Does no I/O. */
  refuses(businessId: string, bytes: number): boolean
  startSending(businessId: string, bytes: number): void
  endSending(businessId: string, bytes: number): void
  /** Stores the counters that the append script returned: alternating names and bytes. */
  update(counters: (string | number)[]): void
  close(): void
}

export function createBacklog(redis: Redis, partition: string, limitBytes: number): Backlog {
  const counters = new Map<string, Counter>()
  const refused = new Set<string>()
  let evictedAt = -Infinity
  let pollTimer: ReturnType<typeof setTimeout> | undefined

  const counterOf = (field: string): Counter => {
    let counter = counters.get(field)
    if (!counter) counters.set(field, (counter = { sending: 0, waiting: 0, updatedAt: -Infinity }))
    return counter
  }
  const limitOf = (field: string) => (field === TOTAL ? limitBytes : limitBytes * SHARE_OF_ONE_BUSINESS)
  const isFresh = (field: string, { updatedAt }: Counter) =>
    refused.has(field) || updatedAt + FRESH_MS > performance.now()
  const usedBytes = (field: string): number => {
    const counter = counters.get(field)
    if (!counter) return 0
    return counter.sending + (counter.waiting > 0 && isFresh(field, counter) ? counter.waiting : 0)
  }
  /** Deletes the counters of idle businesses: there can be very many. */
  const evictIdle = (): void => {
    if (evictedAt + FRESH_MS > performance.now()) return
    evictedAt = performance.now()
    for (const [field, counter] of counters) {
      if (counter.sending === 0 && !isFresh(field, counter)) counters.delete(field)
    }
  }
  /** A request larger than the limit is accepted when nothing else waits; otherwise it could never be sent. */
  const isPast = (field: string, bytes: number): boolean => {
    const used = usedBytes(field)
    return used > 0 && used + bytes > limitOf(field)
  }

  const update = (fields: (string | number)[]): void => {
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const counter = counterOf(String(fields[at]))
      counter.waiting = Number(fields[at + 1]) || 0
      counter.updatedAt = performance.now()
    }
    evictIdle()
  }
  const poll = async (): Promise<void> => {
    const fields = [...refused]
    // While Redis is away, the publisher refuses everything, and this keeps polling.
    const values = await redis.hmget(backlogKey(partition), ...fields).catch(() => undefined)
    if (values) update(fields.flatMap((field, at) => [field, values[at] ?? 0]))
    for (const field of values ? fields : []) if (usedBytes(field) < limitOf(field)) refused.delete(field)
    pollTimer = undefined
    if (refused.size > 0) pollSoon()
  }
  const pollSoon = (): void => {
    pollTimer ??= setTimeout(() => void poll(), POLL_MS)
  }

  return {
    refuses(businessId, bytes) {
      const isFull = isPast(TOTAL, bytes)
      const isShareFull = isPast(businessId, bytes)
      if (!isFull && !isShareFull) return false
      if (isFull) refused.add(TOTAL)
      if (isShareFull) refused.add(businessId)
      pollSoon()
      return true
    },
    startSending(businessId, bytes) {
      counterOf(TOTAL).sending += bytes
      counterOf(businessId).sending += bytes
    },
    endSending(businessId, bytes) {
      counterOf(TOTAL).sending -= bytes
      counterOf(businessId).sending -= bytes
    },
    update,
    close() {
      clearTimeout(pollTimer)
      refused.clear()
    },
  }
}
