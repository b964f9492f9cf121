import { hashWindowKey } from '../../contacts/save/window-hashes.ts'
import type { Queryable } from '../../stores/postgres.ts'

export interface WindowAnswers {
  /** Values by key. A key without an entry is undefined. */
  values: Map<string, string>
  /** True when events or time may have changed them since they were read from the timeline. */
  isStale: boolean
}

/** Reads the last answers of the counts and sums with these keys. */
export async function readAnswers(
  sql: Queryable,
  { businessId, contactId, keys, now }: { businessId: string; contactId: string; keys: readonly string[]; now: number },
): Promise<WindowAnswers> {
  const [row] = await sql<
    [{ windows: [keyHash: string, value: string, nextAt: number | null][]; is_requested: boolean }]
  >`
    select
      (select coalesce(json_agg(json_build_array(w.key_hash, trim_scale(w.value)::text, w.next_at)), '[]')
        from segment_windows w where w.business_id = ${businessId} and w.contact_id = ${contactId}) as windows,
      exists (
        select from segment_window_refreshes c where c.business_id = ${businessId} and c.contact_id = ${contactId}
      ) as is_requested`
  const byHash = new Map(keys.map((key) => [hashWindowKey(key), key]))
  const known = row.windows.flatMap(([keyHash, value, nextAt]) => {
    const key = byHash.get(keyHash)
    return key === undefined ? [] : [{ key, value, isDue: nextAt !== null && nextAt <= now }]
  })
  return {
    values: new Map(known.map(({ key, value }) => [key, value])),
    isStale: row.is_requested || known.some(({ isDue }) => isDue),
  }
}
