/** Tags are added up to a limit (decisions, "Identity"). */
import { type Changes, type Deciding, deltaOf } from '../changes.ts'
import { MAX_TAGS, UnreadError, countOf, showCount } from '../limits.ts'
import type { ContactState } from '../state.ts'

/** @returns a warning, when some had no room */
export function addTags({ state, changes }: Deciding, contact: ContactState, tags: readonly string[]): string[] {
  if (tags.length === 0) return []
  const delta = deltaOf(changes, contact.id)
  if (typeof contact.tags === 'number') {
    const added = tags.filter((tag) => !delta.tags.has(tag))
    if (contact.tags + added.length <= MAX_TAGS) {
      contact.tags += added.length
      for (const tag of added) delta.tags.add(tag)
      return []
    }
  }
  const held = listTags(changes, contact)
  if (!held) throw new UnreadError(state, contact)
  contact.tags = held
  let skipped = 0
  for (const tag of tags) {
    // One that is there is written again: another partition may have removed it.
    if (held.has(tag) || held.size < MAX_TAGS) {
      held.add(tag)
      delta.tags.add(tag)
    } else skipped += 1
  }
  return skipped === 0 ? [] : [skippedTags(skipped)]
}

const skippedTags = (count: number): string =>
  `${countOf(count, 'tag')} skipped: a contact has at most ${showCount(MAX_TAGS)}`

/** Of an edit: which of the added tags have room once the others are removed. */
export function replaceTags(
  { state, changes }: Deciding,
  contact: ContactState,
  removed: readonly string[],
  added: readonly string[],
): { taken: string[]; warnings: string[] } {
  if (typeof contact.tags === 'number' && contact.tags + added.length <= MAX_TAGS) {
    contact.tags += added.length
    return { taken: [...added], warnings: [] }
  }
  const held = listTags(changes, contact)
  if (!held) throw new UnreadError(state, contact)
  contact.tags = held
  for (const tag of removed) held.delete(tag)
  const taken = added.filter((tag) => held.has(tag) || (held.size < MAX_TAGS && held.add(tag)))
  const skipped = added.length - taken.length
  return { taken, warnings: skipped === 0 ? [] : [skippedTags(skipped)] }
}

/** After a merge: the survivor's tags, then the loser's, as far as there is room. What this batch added must be among them. */
export function uniteTags(
  { state, changes }: Pick<Deciding, 'state' | 'changes'>,
  survivor: ContactState,
  loser: ContactState,
): void {
  const [ours, theirs] = [survivor.tags, loser.tags]
  if (typeof ours === 'number' && typeof theirs === 'number' && ours + theirs <= MAX_TAGS) {
    survivor.tags = ours + theirs
    return
  }
  const [first, then] = [listTags(changes, survivor), listTags(changes, loser)]
  survivor.tags = first && then ? new Set([...new Set([...first, ...then])].slice(0, MAX_TAGS)) : null
  const added = changes.deltas.get(loser.id)?.tags
  if (!added || added.size === 0) return
  if (survivor.tags === null) throw new UnreadError(state, survivor)
  for (const tag of added) if (!survivor.tags.has(tag)) added.delete(tag)
}

/** All of one that was made in this batch are in its delta. */
function listTags(changes: Changes, { id, tags, version }: ContactState): Set<string> | null {
  if (tags instanceof Set) return tags
  return version === null ? new Set(changes.deltas.get(id)?.tags) : null
}
