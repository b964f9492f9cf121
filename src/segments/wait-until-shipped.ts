import { sleep } from '../async/sleep.ts'
import type { Sql } from '../stores/postgres.ts'

/** How long to wait, in milliseconds: without progress, and in all. */
export interface ShippingPatience {
  ms: number
  whileMovingMs: number
}

const POLL_MS = 50

/**
 * Resolves with true when ClickHouse has everything of a business that was saved before the call, and with false when
 * that takes too long. Saved rows are in the outbox; rows that are being committed at the same time may be waited for,
 * too.
 */
export async function waitUntilShipped(
  sql: Sql,
  businessId: string,
  patience: ShippingPatience,
  signal?: AbortSignal,
): Promise<boolean> {
  const began = performance.now()
  let last = await findWaiting(sql, businessId, null)
  let movedAt = began
  let tookMs = 0
  while (last !== null) {
    // When many rows of other businesses wait, one query takes long.
    await sleep(Math.max(POLL_MS, tookMs), signal)
    signal?.throwIfAborted()
    const lookedAt = performance.now()
    const waiting = await findWaiting(sql, businessId, last.greatest)
    const now = performance.now()
    tookMs = now - lookedAt
    if (waiting?.least !== last.least) movedAt = now
    if (waiting !== null && (now >= movedAt + patience.ms || now >= began + patience.whileMovingMs)) return false
    last = waiting && { least: waiting.least, greatest: last.greatest }
  }
  return true
}

/** Returns the first and the last row of the business that are not shipped, up to a given row. */
async function findWaiting(
  sql: Sql,
  businessId: string,
  upTo: number | null,
): Promise<{ least: number; greatest: number } | null> {
  const [row] = await sql<[{ least: number | null; greatest: number | null }]>`
    select min(id) as least, max(id) as greatest from outbox
    where shipped_at is null and id <= ${upTo ?? Number.MAX_SAFE_INTEGER} and ${businessId} = any (business_ids)`
  return row.least === null || row.greatest === null ? null : { least: row.least, greatest: row.greatest }
}
