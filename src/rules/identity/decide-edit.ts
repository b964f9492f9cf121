/**
 * Applies an edit of a contact by an operator (decisions, "Reading back": PATCH) or by a campaign step. The edit is
 * alone in its micro-batch: see decide.ts.
 */
import { replaceTags } from '../events/add-tags.ts'
import { MAX_CUSTOM_FIELDS, applyTraits } from '../events/apply-traits.ts'
import { type DecisionContext, deltaOf } from '../changes.ts'
import { type FieldType, PROFILE_FIELDS, type ProfileField, type TraitValue } from '../events/facts.ts'
import { type Fault, faultOf } from '../faults.ts'
import { setField } from './fill-profile.ts'
import type { CampaignStep, EditDecision, EditRequest, Item } from '../item.ts'
import { readWatched, watchFact } from '../segments/membership/watch-item.ts'
import type { ContactState } from '../state.ts'
import { contactById } from './contact-by-id.ts'
import { editIdentities, identityFaults } from './edit-identities.ts'
import { fits } from '../events/traits.ts'

export function decideEdit(context: DecisionContext, item: Item<EditRequest>): EditDecision {
  const { state, changes } = context
  const contact = contactById(state, item)
  if (!contact) return { contactId: null, warnings: [] }
  const { fact, businessId, receivedAt, step } = item
  if (step && !beginStep(context, contact, item, step)) return { contactId: contact.id, warnings: [] }
  // A step sets only what fits, like an event.
  const fields = state.businesses.get(businessId)?.fields ?? new Map<string, FieldType>()
  const issues = step ? [] : [...traitFaults(fields, fact.traits), ...identityFaults(contact, fact)]
  if (issues.length > 0) return { contactId: contact.id, issues, warnings: [] }

  const delta = deltaOf(changes, contact.id)
  // Another partition may have decided without this edit. The new version makes it decide again.
  delta.raisesVersion = true
  const warnings = applyTraits(context, contact, fact.traits, receivedAt, receivedAt)
  warnings.push(...editIdentities(context, contact, fact))
  const cleared: ProfileField[] = []
  for (const field of PROFILE_FIELDS) {
    const value = fact.profile[field]
    if (value === undefined) continue
    if ((contact.profile[field] ?? null) !== value) watchFact(context, contact, `profile:${field}`)
    setField(contact, field, value)
    if (value === null) cleared.push(field)
    else delta.profile[field] = value
  }
  const { taken, warnings: tagWarnings } = replaceTags(context, contact, fact.removeTags, fact.addTags)
  const traits = item.isReplay ? [] : [...delta.traits].map(([key, [, json]]) => [key, json] as const)
  for (const [key, json] of traits) replaceWatchedTrait(context, contact, key, json)
  changes.edits.push({
    businessId,
    contactId: contact.id,
    at: receivedAt,
    cleared,
    traits: Object.fromEntries(traits),
    addTags: taken,
    removeTags: fact.removeTags,
  })
  return { contactId: contact.id, warnings: [...fact.warnings, ...warnings, ...tagWarnings] }
}

/** Returns false when the enrolment has ended, or when the step was already applied. */
function beginStep(
  { state, changes, chain }: DecisionContext,
  contact: ContactState,
  { businessId, receivedAt }: Item<EditRequest>,
  { enrolmentId, stepId }: CampaignStep,
): boolean {
  const enrolment = contact.enrolments.find(({ id }) => id === enrolmentId)
  if (enrolment?.state !== 'active' || state.stepsToApply.get(enrolmentId) !== stepId) return false
  state.stepsToApply.delete(enrolmentId)
  const refused: string[] = []
  if (chain) Object.assign(chain, { root: enrolment.chain ?? enrolmentId, refused })
  changes.appliedSteps.push({ businessId, contactId: contact.id, enrolmentId, stepId, at: receivedAt, refused })
  return true
}

/** Mirrors `edit_contact`: if the stored value is not older, the new one is dated 1 ms after it. */
function replaceWatchedTrait(context: DecisionContext, contact: ContactState, key: string, json: string | null): void {
  const stored = readWatched(context, contact, `field:${key}`)?.traits.get(key)
  if (stored && stored[1] !== json) watchFact(context, contact, `field:${key}`)?.traits.set(key, [stored[0] + 1, json])
}

/** Returns faults for the values that do not fit the fields of the business. */
export function traitFaults(fields: ReadonlyMap<string, FieldType>, traits: Record<string, TraitValue>): Fault[] {
  let free = MAX_CUSTOM_FIELDS - fields.size
  return Object.entries(traits).flatMap(([key, value]) => {
    if (value === null) return []
    const path = `traits.${key}`
    const type = fields.get(key)
    if (type !== undefined) return fits(type, value) ? [] : [faultOf(path, 'field_type', { type })]
    free -= 1
    return free >= 0 ? [] : [faultOf(path, 'fields_full', { max: MAX_CUSTOM_FIELDS })]
  })
}
