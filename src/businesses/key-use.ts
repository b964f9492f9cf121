/** Records when keys were last used: noted in memory while a key is looked up, and written once a minute for all of them. */
import type { Logger } from '../log.ts'
import type { Sql } from '../stores/postgres.ts'

const WRITE_MS = 60_000

export interface KeyUse {
  note(keyId: string): void
  /** Writes what was noted since. */
  write(): Promise<void>
  /** What was noted in the last minute is lost. */
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

/** In the order of their ids, so that two front doors never wait for each other. A key that another has just written is left out. */
async function recordKeyUse(sql: Sql, keyIds: string[]): Promise<void> {
  await sql`
    with used as (
      select id from api_keys
      where id = any (${`{${keyIds.join(',')}}`}::uuid[])
        and (last_used_at is null or last_used_at < now() - ${`${WRITE_MS / 2} ms`}::interval)
      order by id for no key update)
    update api_keys k set last_used_at = now() from used where k.id = used.id`
}
