import type { Changes } from '../../rules/changes.ts'
import type { State } from '../../rules/state.ts'

/** The position of each contact in the list of a save, starting at 1. */
export type ContactPositions = Map<string, number>

/**
 * The merges of one micro-batch: each losing contact with its final survivor. The losers of one survivor are in the
 * order of their merges. Contacts created in this batch are left out: they have nothing in Postgres to move.
 */
export function mergeRecords({ contacts }: State, { merges }: Changes, places: ContactPositions) {
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
