/** Limits the messages of calls that wait: all of them, and those of each business to a quarter. */
import type { Sql } from '../stores/postgres.ts'

/** The share of one business, as that of the streams. */
const SHARE = 1 / 4
/** The counts are at least that old before they are read again, in milliseconds, and older when reading takes long. */
const FRESH_MS = 1000
const READING_SHARE = 20

export interface CallBacklog {
  /** Returns whether there is room for a message of that many bytes. */
  hasRoom(businessId: string, bytes: number): Promise<boolean>
  /** Counts a message that was recorded. */
  add(businessId: string, bytes: number): void
}

/** Counts in Postgres, and what this process has recorded since. */
export function createCallBacklog(sql: Sql, limitBytes: number): CallBacklog {
  let counts = new Map<string, number>()
  let total = 0
  let freshUntil = -Infinity
  let reading: Promise<void> | undefined
  const add = (businessId: string, bytes: number): void => {
    counts.set(businessId, (counts.get(businessId) ?? 0) + bytes)
    total += bytes
  }
  const read = async (): Promise<void> => {
    const begun = performance.now()
    const rows = await sql<{ businessId: string; bytes: number }[]>`
      select business_id as "businessId", sum(bytes)::float8 as bytes from due_calls group by business_id`
    counts = new Map()
    total = 0
    for (const { businessId, bytes } of rows) add(businessId, bytes)
    const now = performance.now()
    freshUntil = now + Math.max(FRESH_MS, READING_SHARE * (now - begun))
  }
  return {
    async hasRoom(businessId, bytes) {
      if (performance.now() >= freshUntil) {
        reading ??= read().finally(() => (reading = undefined))
        await reading
      }
      return total + bytes <= limitBytes && (counts.get(businessId) ?? 0) + bytes <= limitBytes * SHARE
    },
    add,
  }
}
