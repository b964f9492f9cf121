/**
 * How much of a partition may wait. Both limits count bytes of requests: the partition's total, and a quarter of it for
 * one business. The counters live in Redis, beside the stream; the front door knows them from the answers to its appends,
 * and asks again only about those that it rejects because of them.
 */
import type { Redis } from '../stores/redis.ts'
import { backlogKey } from './keys.ts'

const SHARE_OF_ONE_BUSINESS = 1 / 4
const ASK_AGAIN_MS = 100
/** What is older says nothing: a business that was near its limit may have been idle since. */
const BELIEVE_MS = 1000

const TOTAL = 'total'

interface Counter {
  /** Bytes on their way into the stream. */
  sending: number
  /** Bytes in the stream, as last heard. */
  waiting: number
  /** By the clock that only goes forward. */
  heardAt: number
}

export interface Backlog {
  /** True when these bytes would go past a limit. Costs no I/O. */
  refuses(businessId: string, bytes: number): boolean
  startSending(businessId: string, bytes: number): void
  endSending(businessId: string, bytes: number): void
  /** Takes in what the append script answered: names and bytes in turn. */
  hear(counters: (string | number)[]): void
  close(): void
}

export function createBacklog(redis: Redis, partition: string, limitBytes: number): Backlog {
  const counters = new Map<string, Counter>()
  const refused = new Set<string>()
  let forgotAt = -Infinity
  let asking: ReturnType<typeof setTimeout> | undefined

  const counterOf = (field: string): Counter => {
    let counter = counters.get(field)
    if (!counter) counters.set(field, (counter = { sending: 0, waiting: 0, heardAt: -Infinity }))
    return counter
  }
  const limitOf = (field: string) => (field === TOTAL ? limitBytes : limitBytes * SHARE_OF_ONE_BUSINESS)
  const isBelieved = (field: string, { heardAt }: Counter) =>
    refused.has(field) || heardAt + BELIEVE_MS > performance.now()
  const used = (field: string): number => {
    const counter = counters.get(field)
    if (!counter) return 0
    return counter.sending + (isBelieved(field, counter) ? counter.waiting : 0)
  }
  /** There can be very many businesses: those that were idle for a while count as never seen. */
  const forgetIdle = (): void => {
    if (forgotAt + BELIEVE_MS > performance.now()) return
    forgotAt = performance.now()
    for (const [field, counter] of counters) {
      if (counter.sending === 0 && !isBelieved(field, counter)) counters.delete(field)
    }
  }
  /** A request that is larger than the limit by itself goes in when nothing else waits: it could never pass otherwise. */
  const isPast = (field: string, bytes: number) => used(field) > 0 && used(field) + bytes > limitOf(field)

  const hear = (fields: (string | number)[]): void => {
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const counter = counterOf(String(fields[at]))
      counter.waiting = Number(fields[at + 1]) || 0
      counter.heardAt = performance.now()
    }
    forgetIdle()
  }
  const ask = async (): Promise<void> => {
    const fields = [...refused]
    // Redis may be away: the publisher refuses everything by itself then, and here it is asked again.
    const values = await redis.hmget(backlogKey(partition), ...fields).catch(() => undefined)
    if (values) hear(fields.flatMap((field, at) => [field, values[at] ?? 0]))
    for (const field of values ? fields : []) if (used(field) < limitOf(field)) refused.delete(field)
    asking = undefined
    if (refused.size > 0) askSoon()
  }
  const askSoon = (): void => {
    asking ??= setTimeout(() => void ask(), ASK_AGAIN_MS)
  }

  return {
    refuses(businessId, bytes) {
      const past = [TOTAL, businessId].filter((field) => isPast(field, bytes))
      for (const field of past) refused.add(field)
      if (past.length > 0) askSoon()
      return past.length > 0
    },
    startSending(businessId, bytes) {
      counterOf(TOTAL).sending += bytes
      counterOf(businessId).sending += bytes
    },
    endSending(businessId, bytes) {
      counterOf(TOTAL).sending -= bytes
      counterOf(businessId).sending -= bytes
    },
    hear,
    close() {
      clearTimeout(asking)
      refused.clear()
    },
  }
}
