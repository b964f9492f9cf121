/** Tags are added up to a limit (decisions, "Identity"). */
import { type Changes, type DecisionContext, deltaOf } from '../changes.ts'
import { MAX_TAGS, UnreadError, countOf, showCount } from '../limits.ts'
import { readWatched, watchFact } from '../segments/membership/watch-item.ts'
import type { ContactState } from '../state.ts'

/** @returns a warning when tags were skipped at the limit */
export function addTags(context: DecisionContext, contact: ContactState, tags: readonly string[]): string[] {
  if (tags.length === 0) return []
  const { state, changes } = context
  const delta = deltaOf(changes, contact.id)
  if (typeof contact.tags === 'number') {
    const added = tags.filter((tag) => !delta.tags.has(tag))
    if (contact.tags + added.length <= MAX_TAGS) {
      contact.tags += added.length
      for (const tag of added) {
        addWatchedTag(context, contact, tag)
        delta.tags.add(tag)
      }
      return []
    }
  }
  const existing = listTags(changes, contact)
  if (!existing) throw new UnreadError(state, contact)
  contact.tags = existing
  let skipped = 0
  for (const tag of tags) {
    // Write an existing tag again: another partition may have removed it.
    if (existing.has(tag) || existing.size < MAX_TAGS) {
      addWatchedTag(context, contact, tag)
      existing.add(tag)
      delta.tags.add(tag)
    } else skipped += 1
  }
  return skipped === 0 ? [] : [skippedTags(skipped)]
}

function addWatchedTag(context: DecisionContext, contact: ContactState, tag: string): void {
  if (readWatched(context, contact, `tag:${tag}`)?.tags.has(tag) === false)
    watchFact(context, contact, `tag:${tag}`)?.tags.add(tag)
}

const skippedTags = (count: number): string =>
  `${countOf(count, 'tag')} skipped: a contact has at most ${showCount(MAX_TAGS)}`

/** Removes tags, then adds tags up to the limit, for an edit. `taken` are the tags that were added. */
export function replaceTags(
  context: DecisionContext,
  contact: ContactState,
  removed: readonly string[],
  added: readonly string[],
): { taken: string[]; warnings: string[] } {
  for (const tag of removed)
    if (readWatched(context, contact, `tag:${tag}`)?.tags.has(tag))
      watchFact(context, contact, `tag:${tag}`)?.tags.delete(tag)
  const replaced = replaceListed(context, contact, removed, added)
  for (const tag of replaced.taken) addWatchedTag(context, contact, tag)
  return replaced
}

function replaceListed(
  { state, changes }: DecisionContext,
  contact: ContactState,
  removed: readonly string[],
  added: readonly string[],
): { taken: string[]; warnings: string[] } {
  if (typeof contact.tags === 'number' && contact.tags + added.length <= MAX_TAGS) {
    contact.tags += added.length
    return { taken: [...added], warnings: [] }
  }
  const existing = listTags(changes, contact)
  if (!existing) throw new UnreadError(state, contact)
  contact.tags = existing
  for (const tag of removed) existing.delete(tag)
  const taken = added.filter((tag) => existing.has(tag) || (existing.size < MAX_TAGS && existing.add(tag)))
  const skipped = added.length - taken.length
  return { taken, warnings: skipped === 0 ? [] : [skippedTags(skipped)] }
}

/**
 * Merges tags: the survivor's, then the loser's, up to the limit. Tags of this batch beyond the limit are removed from
 * the loser's delta.
 */
export function mergeTags(
  { state, changes }: Pick<DecisionContext, 'state' | 'changes'>,
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

/** Returns null when the tags were not read. A contact created in this batch has all its tags in its delta. */
function listTags(changes: Changes, { id, tags, version }: ContactState): Set<string> | null {
  if (tags instanceof Set) return tags
  return version === null ? new Set(changes.deltas.get(id)?.tags) : null
}
