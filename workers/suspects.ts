/**
 * Whose items have failed lately, in one partition: they are tried apart first, and set aside untried for a while when they
 * keep failing. What is known of it lies in the dead letters, which are committed with the save that set the items aside.
 */
import type { Sql } from '../src/stores/postgres.ts'
import type { DeadLetterRecord } from '../src/stream/compose-dead-letter.ts'

/** A failure is remembered for so long. */
const REMEMBERED_MS = 600_000
/** Saves in which a contact, or a whole business, was set aside, before it is set aside untried … */
const MOST_FAILURES = 3
/** … for so long after the last of them. Then it is tried again. */
const UNTRIED_MS = 60_000
/** What is read of the dead letters of an attack that goes on: the newest. */
const MOST_LETTERS = 10_000
/** Contacts and businesses that are remembered in one partition: the ones that failed last. */
export const MAX_KEYS = 10_000

export interface Suspects {
  /** An item of this business has failed lately, or of this contact. */
  isSuspect(key: string): boolean
  /** This contact, or this business as a whole, keeps failing: its items are not worth trying now. */
  isGivenUp(key: string): boolean
  /** After the commit: what the save has set aside. */
  note(letters: DeadLetterRecord[]): void
}

interface Failed {
  count: number
  at: number
}

export type SuspectsOf = (sql: Sql, partition: string, epoch: number) => Promise<Suspects>

/** Those of each partition that this thread has; read from Postgres once for each epoch. */
export function createSuspects(now = () => performance.now()): SuspectsOf {
  const known = new Map<string, { epoch: number; suspects: Suspects }>()
  return async (sql, partition, epoch) => {
    const held = known.get(partition)
    if (held?.epoch === epoch) return held.suspects
    const suspects = createSuspectsOfOne(await readFailed(sql, partition, now()), now)
    known.set(partition, { epoch, suspects })
    return suspects
  }
}

function createSuspectsOfOne(failed: Map<string, Failed>, now: () => number): Suspects {
  const lately = (key: string): Failed | undefined => {
    const one = failed.get(key)
    if (one && now() - one.at > REMEMBERED_MS) failed.delete(key)
    return failed.get(key)
  }
  const noteKey = (key: string): void => {
    const count = (lately(key)?.count ?? 0) + 1
    failed.delete(key)
    failed.set(key, { count, at: now() })
    // The oldest come first.
    for (const [other, { at }] of failed) {
      if (failed.size <= MAX_KEYS && now() - at <= REMEMBERED_MS) break
      failed.delete(other)
    }
  }
  return {
    isSuspect: (key) => lately(key) !== undefined,
    isGivenUp(key) {
      const one = lately(key)
      return one !== undefined && one.count >= MOST_FAILURES && now() - one.at <= UNTRIED_MS
    },
    note(letters) {
      const keys = letters.flatMap((letter) => (letter.suspect === null ? [] : keysOf(letter)))
      for (const key of new Set(keys)) noteKey(key)
    },
  }
}

/** Of a business as a whole its own failures are counted apart: an item that failed makes it a suspect and no more. */
const keysOf = ({ business_id, suspect }: { business_id: string | null; suspect: string | null }): string[] => [
  ...(business_id === null ? [] : [suspectKey(business_id)]),
  ...(suspect === null ? [] : [suspect]),
]

export const suspectKey = (businessId: string) => `suspect ${businessId}`

async function readFailed(sql: Sql, partition: string, now: number): Promise<Map<string, Failed>> {
  const rows = await sql<{ business_id: string | null; suspect: string | null; count: number; ago: number }[]>`
    select business_id, suspect, count(distinct created_at)::int as count,
      (extract(epoch from now() - max(created_at)) * 1000)::float8 as ago
    from (
      select business_id, suspect, created_at from dead_letters
      where partition = ${partition} and suspect is not null and created_at > now() - ${REMEMBERED_MS} * interval '1 millisecond'
      order by created_at desc limit ${MOST_LETTERS}
    ) newest
    group by grouping sets ((business_id), (suspect)) order by max(created_at)`
  return new Map(
    rows.map(({ business_id, suspect, count, ago }) => [
      suspect ?? suspectKey(business_id ?? ''),
      { count, at: now - Math.max(0, ago) },
    ]),
  )
}
