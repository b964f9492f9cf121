import type { EngineDeps } from '../engine-deps.ts'

const CHUNK_ROWS = 1000
/** Per call, so that the engine's sends do not wait long. */
export const MAX_CHUNKS = 20

/** Deletes the values with which messages were rendered once they are older than `messageKeepMs`, oldest first. */
export async function forgetValues({
  sql,
  now,
  config,
}: Pick<EngineDeps, 'sql' | 'now'> & { config: Pick<EngineDeps['config'], 'messageKeepMs'> }): Promise<void> {
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
    const { count } = await sql`
      update messages m set "values" = null, kept = false
      from (
        select business_id, id from messages
        where kept and claimed_at < ${now() - config.messageKeepMs}
        order by claimed_at limit ${CHUNK_ROWS} for update skip locked
      ) old
      where m.business_id = old.business_id and m.id = old.id`
    if (count < CHUNK_ROWS) return
  }
}
