/**
 * Traits become custom fields. The first value creates the field, the type never changes, and the newest value wins
 * (decisions, "Traits and custom fields").
 */
import { type DecisionContext, deltaOf } from '../changes.ts'
import type { TraitValue } from './facts.ts'
import { MAX_CLEARED, UnreadError, countOf, showCount } from '../limits.ts'
import type { BusinessState } from '../business-state.ts'
import type { ContactState } from '../state.ts'
import { readWatched, recompileFor, watchFact } from '../segments/membership/watch-item.ts'
import { type TraitEntry, fits, inferFieldType, wins } from './traits.ts'

export const MAX_CUSTOM_FIELDS = 500

/**
 * @param at time of the values, in epoch ms
 * @param receivedAt creation time of a new field, in epoch ms
 * @returns one warning per skipped trait; the time of a skipped value is not stored
 */
export function applyTraits(
  context: DecisionContext,
  contact: ContactState,
  traits: Record<string, TraitValue>,
  at: number,
  receivedAt: number,
): string[] {
  const { state, changes } = context
  const warnings: string[] = []
  let skipped = 0
  const business = state.businesses.get(contact.businessId)
  if (!business) throw new Error('the business was not loaded')
  for (const key of Object.keys(traits)) {
    const value = traits[key] ?? null
    const problem = value === null ? null : problemWith(business, key, value)
    if (problem) {
      warnings.push(problem)
      continue
    }
    if (value === null && !business.fields.has(key) && !rememberCleared({ state, changes }, contact, business, key)) {
      skipped += 1
      continue
    }
    if (value !== null && !business.fields.has(key)) {
      const type = inferFieldType(value)
      business.fields.set(key, type)
      changes.newFields.push({ businessId: business.id, key, type, createdAt: receivedAt })
      recompileFor(context, business, key)
    }
    const stored: TraitEntry = [at, value === null ? null : JSON.stringify(value)]
    setWatchedTrait(context, contact, key, stored)
    const existing = deltaOf(changes, contact.id).traits.get(key)
    if (!existing || wins(stored, existing)) deltaOf(changes, contact.id).traits.set(key, stored)
  }
  if (skipped > 0)
    warnings.push(
      `${countOf(skipped, 'cleared trait')} skipped: a contact remembers ${showCount(MAX_CLEARED)} that have no field`,
    )
  return warnings
}

function setWatchedTrait(context: DecisionContext, contact: ContactState, key: string, sent: TraitEntry): void {
  const stored = readWatched(context, contact, `field:${key}`)?.traits.get(key)
  if (!stored || wins(sent, stored)) watchFact(context, contact, `field:${key}`)?.traits.set(key, sent)
}

/** @returns false when the contact already has the maximum number of cleared keys without a field */
function rememberCleared(
  { state, changes }: Pick<DecisionContext, 'state' | 'changes'>,
  contact: ContactState,
  { fields }: BusinessState,
  key: string,
): boolean {
  const cleared = clearedOf(contact)
  if (!cleared) throw new UnreadError(state, contact)
  contact.cleared = cleared
  if (cleared.has(key)) return true
  if (cleared.size >= MAX_CLEARED) for (const other of cleared) if (fields.has(other)) cleared.delete(other)
  if (cleared.size >= MAX_CLEARED) return false
  cleared.add(key)
  deltaOf(changes, contact.id).raisesVersion = true
  return true
}

/** Returns null when the cleared keys were not read. A contact created in this batch has none yet. */
const clearedOf = ({ cleared, version }: ContactState) => cleared ?? (version === null ? new Set<string>() : null)

/** Merges the cleared keys: the survivor's, then the loser's, up to the limit. */
export function mergeCleared(survivor: ContactState, loser: ContactState): ContactState['cleared'] {
  const [ours, theirs] = [clearedOf(survivor), clearedOf(loser)]
  return ours && theirs ? new Set([...new Set([...ours, ...theirs])].slice(0, MAX_CLEARED)) : null
}

function problemWith(business: BusinessState, key: string, value: Exclude<TraitValue, null>): string | null {
  const type = business.fields.get(key)
  if (type === undefined)
    return business.fields.size < MAX_CUSTOM_FIELDS
      ? null
      : `trait "${key}" was skipped: the business has ${MAX_CUSTOM_FIELDS} custom fields already`
  return fits(type, value) ? null : `trait "${key}" was skipped: its field is of type ${type}`
}
