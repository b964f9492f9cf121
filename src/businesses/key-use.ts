/** Records when keys were last used. Uses are collected in memory as keys are looked up, and written once a minute. */
import type { Logger } from '../log.ts'
import type { Sql } from '../stores/postgres.ts'

const WRITE_MS = 60_000

export interface KeyUse {
  note(keyId: string): void
  /** Writes the uses that were noted since the last write. */
  write(): Promise<void>
  /** Stops the writes. Uses that are not written yet are lost. */
  close(): void
}

export function createKeyUse({ sql, log }: { sql: Sql; log: Logger }): KeyUse {
  let used = new Set<string>()
  const write = async () => {
    if (used.size === 0) return
    const ids = used
    used = new Set()
    try {
      await recordKeyUse(sql, [...ids])
    } catch (error) {
      log.warn({ err: error }, 'the last use of keys was not written')
      for (const id of ids) used.add(id)
    }
  }
  const timer = setInterval(() => void write(), WRITE_MS)
  timer.unref()
  return { note: (keyId) => void used.add(keyId), write, close: () => clearInterval(timer) }
}

/**
 * Locks the rows in order of their ids, so that two front doors cannot deadlock. Skips keys that were written within
 * the last half minute, such as by another front door.
 */
async function recordKeyUse(sql: Sql, keyIds: string[]): Promise<void> {
  await sql`
    with used as (
      select id from api_keys
      where id = any (${`{${keyIds.join(',')}}`}::uuid[])
        and (last_used_at is null or last_used_at < now() - ${`${WRITE_MS / 2} ms`}::interval)
      order by id for no key update)
    update api_keys k set last_used_at = now() from used where k.id = used.id`
}
