import type { EngineDeps } from './engine-deps.ts'

/** What messages were rendered from is kept for so long. */
export const KEEP_DAYS = 90
const CHUNK_ROWS = 1000

/** Forgets a chunk of what is too old. */
export async function forgetValues({ sql, now }: Pick<EngineDeps, 'sql' | 'now'>): Promise<void> {
  await sql`
    update messages m set "values" = null
    from (
      select business_id, id from messages
      where "values" is not null and claimed_at < ${now() - KEEP_DAYS * 86_400_000}
      order by claimed_at limit ${CHUNK_ROWS} for update skip locked
    ) old
    where m.business_id = old.business_id and m.id = old.id`
}
