import type { Changes } from '../rules/changes.ts'
import type { State } from '../rules/state.ts'

/** Where each contact stands among the people of a save, from 1 on. */
export type Places = Map<string, number>

/**
 * The merges of one micro-batch at once: each who loses with who survives in the end, however many were in between. Those of one
 * survivor come in the order in which they were merged. What was made in this batch has nothing
 * in Postgres that could be moved.
 */
export function mergeRecords({ contacts }: State, { merges }: Changes, places: Places) {
  const losersOf = new Map<string, string[]>()
  for (const { losingId, survivingId } of merges) {
    const losers = losersOf.get(survivingId) ?? []
    losers.push(losingId, ...(losersOf.get(losingId) ?? []))
    losersOf.delete(losingId)
    losersOf.set(survivingId, losers)
  }
  return [...losersOf].flatMap(([survivor, losers]) =>
    losers
      .filter((loser) => contacts.get(loser)?.version !== null)
      .map((loser) => ({ loser: places.get(loser), survivor: places.get(survivor) })),
  )
}
