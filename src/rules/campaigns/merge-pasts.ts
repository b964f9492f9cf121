import type { Changes } from '../changes.ts'
import { type ContactState, type PastOfKey, type State, pastKey } from '../state.ts'
import { ANY_KEY } from './event-condition.ts'
import { NOTHING, isAllNew } from './past-of-key.ts'

/** Unites what is remembered of keys. What was read of one of the contacts alone is no longer known. */
export function mergePasts(state: State, changes: Changes, survivor: ContactState, loser: ContactState): void {
  const [isOursNew, isTheirsNew] = [isAllNew(state, survivor, loser.id), isAllNew(state, loser)]
  for (const name of new Set([...survivor.pastOfKeys.keys(), ...loser.pastOfKeys.keys()])) {
    const [ours, theirs] = [pastIn(survivor, name, isOursNew), pastIn(loser, name, isTheirsNew)]
    if (ours && theirs) survivor.pastOfKeys.set(name, unite(ours, theirs))
    else survivor.pastOfKeys.delete(name)
  }
  loser.pastOfKeys.clear()
  for (const [name, time] of changes.goalTimes) {
    if (time.contactId !== loser.id) continue
    changes.goalTimes.delete(name)
    const moved = `${survivor.id} ${pastKey(time.campaignId, time.key)}`
    const lastAt = Math.max(time.lastAt, changes.goalTimes.get(moved)?.lastAt ?? -Infinity)
    changes.goalTimes.set(moved, { ...time, contactId: survivor.id, lastAt })
  }
}

/** What a contact without an entry has, if that is known, is nothing. */
function pastIn({ pastOfKeys }: ContactState, name: string, isNew: boolean): PastOfKey | undefined {
  const isKnown = isNew || name.endsWith(pastKey('', ANY_KEY))
  return pastOfKeys.get(name) ?? (isKnown ? NOTHING : undefined)
}

function unite(ours: PastOfKey, theirs: PastOfKey): PastOfKey {
  const times = [ours.goalAt, theirs.goalAt].filter((one) => one !== null)
  return {
    wasEntered: ours.wasEntered || theirs.wasEntered,
    goalAt: times.length === 0 ? null : Math.max(...times),
  }
}
