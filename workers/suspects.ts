/**
 * The contacts and businesses of one partition whose items failed recently. Their items are tried separately first. If
 * they keep failing, they are set aside untried for a while. The source is the dead letters, which are committed with
 * the save.
 */
import type { Sql } from '../src/stores/postgres.ts'
import type { DeadLetterRecord } from '../src/stream/compose-dead-letter.ts'

/** Milliseconds for which a failure counts. */
const FAILURE_TTL_MS = 600_000
/** After this many saves that set aside items of a contact, or a whole business, its items are set aside untried … */
const MAX_FAILURES = 3
/** … for this long. Then they are tried again. */
const QUARANTINE_MS = 60_000
/** Limit on the newest dead letters to read after a start, because an attack can leave very many. */
const MAX_DEAD_LETTERS = 10_000
/** Limit on the contacts and businesses per partition. Those that failed last are kept. */
export const MAX_KEYS = 10_000

export interface Suspects {
  /** Whether an item of this contact or business failed recently. */
  isSuspect(key: string): boolean
  /** Whether this contact, or this business as a whole, keeps failing, so that its items are not tried now. */
  isQuarantined(key: string): boolean
  /** Records the items that a committed save has set aside. */
  note(letters: DeadLetterRecord[]): void
}

interface FailureCount {
  count: number
  at: number
}

export type LoadSuspects = (sql: Sql, partition: string, epoch: number) => Promise<Suspects>

/** Returns the suspects of a partition that this thread owns. Reads them from Postgres once per epoch. */
export function createSuspects(now = () => performance.now()): LoadSuspects {
  const known = new Map<string, { epoch: number; suspects: Suspects }>()
  return async (sql, partition, epoch) => {
    const held = known.get(partition)
    if (held?.epoch === epoch) return held.suspects
    const suspects = createSuspectsOfOne(await readFailed(sql, partition, now()), now)
    known.set(partition, { epoch, suspects })
    return suspects
  }
}

function createSuspectsOfOne(failed: Map<string, FailureCount>, now: () => number): Suspects {
  const lately = (key: string): FailureCount | undefined => {
    const one = failed.get(key)
    if (one && now() - one.at > FAILURE_TTL_MS) failed.delete(key)
    return failed.get(key)
  }
  const noteKey = (key: string): void => {
    const count = (lately(key)?.count ?? 0) + 1
    failed.delete(key)
    failed.set(key, { count, at: now() })
    // The oldest entries come first.
    for (const [other, { at }] of failed) {
      if (failed.size <= MAX_KEYS && now() - at <= FAILURE_TTL_MS) break
      failed.delete(other)
    }
  }
  return {
    isSuspect: (key) => failed.size > 0 && lately(key) !== undefined,
    isQuarantined(key) {
      const one = lately(key)
      return one !== undefined && one.count >= MAX_FAILURES && now() - one.at <= QUARANTINE_MS
    },
    note(letters) {
      const keys = letters.flatMap((letter) => (letter.suspect === null ? [] : keysOf(letter)))
      for (const key of new Set(keys)) noteKey(key)
    },
  }
}

/** A failed item makes its business a suspect. Failures of the whole business are counted separately. */
const keysOf = ({ business_id, suspect }: { business_id: string | null; suspect: string | null }): string[] => [
  ...(business_id === null ? [] : [suspectKey(business_id)]),
  ...(suspect === null ? [] : [suspect]),
]

export const suspectKey = (businessId: string) => `suspect ${businessId}`

async function readFailed(sql: Sql, partition: string, now: number): Promise<Map<string, FailureCount>> {
  const rows = await sql<{ business_id: string | null; suspect: string | null; count: number; ago: number }[]>`
    select business_id, suspect, count(distinct created_at)::int as count,
      (extract(epoch from now() - max(created_at)) * 1000)::float8 as ago
    from (
      select business_id, suspect, created_at from dead_letters
      where partition = ${partition} and suspect is not null and created_at > now() - ${FAILURE_TTL_MS} * interval '1 millisecond'
      order by created_at desc limit ${MAX_DEAD_LETTERS}
    ) newest
    group by grouping sets ((business_id), (suspect)) order by max(created_at)`
  return new Map(
    rows.map(({ business_id, suspect, count, ago }) => [
      suspect ?? suspectKey(business_id ?? ''),
      { count, at: now - Math.max(0, ago) },
    ]),
  )
}
