/**
 * Plans which contact a call is about, from its identity fields and their current contacts. Changes nothing. The rules
 * are in decisions, "Identity" and "Callers without a secret key". A wrong merge cannot be undone, but a wrong split
 * can. In doubt a field stays where it is, with a warning.
 */
import type { IdentityKind } from '../events/facts.ts'
import { MAX_ENROLMENTS, MAX_IDENTITIES, countEnrolments, showCount } from '../limits.ts'
import type { PageIdentify } from '../business-state.ts'
import { type ContactState, customerIdOf } from '../state.ts'

/** One identity field of the call. `owner` is its current contact, if any. */
export interface SentField {
  kind: IdentityKind
  value: string
  phoneRead: boolean
  owner: ContactState | null
  /** True when a keyed call has proven that it belongs to the owner. */
  proven: boolean
}

export interface IdentityPlan {
  /** The contact that was found; null when a new one must be created. */
  target: ContactState | null
  /** Contacts to merge with the target, in order. */
  merges: ContactState[]
  /** Fields that the call's contact gets: new ones, and unproven ones that move from another contact. */
  attach: SentField[]
  /** Fields of the call's contact that this keyed call proves. */
  prove: SentField[]
  /** Unproven customer ids to remove, because another one replaces them. */
  release: { contact: ContactState; value: string }[]
  warnings: string[]
}

/**
 * @param fields at least one, in order of strength (IDENTITY_KINDS)
 * @param caller `keyed`: it has a secret key; `pageIdentify`: how far the business trusts callers without one
 */
export function planIdentity(
  fields: SentField[],
  caller: { keyed: boolean; pageIdentify: PageIdentify },
): IdentityPlan {
  const [only] = fields
  // The usual case: a single field needs no comparison.
  if (only && fields.length === 1) {
    if (!only.owner) return simplePlan(null, fields)
    if (only.proven && !isCustomerId(only)) return simplePlan(only.owner, [])
  }
  return caller.keyed ? planKeyed(fields) : planUnkeyed(fields, caller.pageIdentify)
}

function simplePlan(target: ContactState | null, attach: SentField[]): IdentityPlan {
  return { target, merges: [], attach, prove: [], release: [], warnings: [] }
}

function planKeyed(fields: SentField[]): IdentityPlan {
  const sentId = fields.find(isCustomerId)?.value
  // A contact with another customer id is another person, so its fields stay with it.
  const usable = fields.filter((field) => !belongsToAnotherId(field, sentId))
  const warnings = fields.filter((field) => !usable.includes(field)).map(staysElsewhere)

  const proven = contactsOf(usable.filter((field) => field.proven))
  const target = proven[0] ?? unprovenTarget(usable)
  const { merges, apart, refusals } = target
    ? chooseMerges(target, proven, sentId)
    : { merges: [], apart: [], refusals: [] }
  warnings.push(...refusals)

  const joined = target ? [target, ...merges] : []
  const accepted = usable.filter((field) => !(field.proven && field.owner && apart.includes(field.owner)))
  warnings.push(...usable.filter((field) => !accepted.includes(field)).map(staysElsewhere))
  return {
    target,
    merges,
    attach: accepted.filter((field) => !field.owner || !joined.includes(field.owner)),
    prove: accepted.filter((field) => field.owner && joined.includes(field.owner) && !field.proven),
    release: releasedIds(joined, sentId),
    warnings,
  }
}

function belongsToAnotherId(field: SentField, sentId: string | undefined): boolean {
  if (sentId === undefined || isCustomerId(field) || !field.owner || !field.proven) return false
  const existing = provenIdOf(field.owner)
  return existing !== undefined && existing !== sentId
}

/**
 * Returns the target when all known fields are unproven: their contact, unless a keyed call has used it. Otherwise the
 * fields move to a new contact: a page cannot attach a field to a person that servers know.
 */
function unprovenTarget(usable: SentField[]): ContactState | null {
  return contactsOf(usable).find((contact) => !contact.keyed) ?? null
}

/**
 * Without a customer id in the call, contacts with different ids stay apart. With one, contacts with other ids were
 * already filtered out.
 */
function chooseMerges(target: ContactState, proven: ContactState[], sentId: string | undefined) {
  const merges: ContactState[] = []
  const apart: ContactState[] = []
  const refusals: string[] = []
  let id = sentId ?? provenIdOf(target)
  for (const next of proven) {
    if (next === target) continue
    const nextId = provenIdOf(next)
    const tooMany = limitPassed([target, ...merges, next])
    if (id !== undefined && nextId !== undefined && nextId !== id) apart.push(next)
    else if (tooMany) {
      apart.push(next)
      refusals.push(`a contact was not merged: both together have more than ${tooMany}`)
    } else {
      merges.push(next)
      id ??= nextId
    }
  }
  return { merges, apart, refusals }
}

/** Returns the limit that these contacts would exceed after a merge, if any. */
function limitPassed(contacts: ContactState[]): string | undefined {
  const sum = (count: (contact: ContactState) => number) => contacts.reduce((all, one) => all + count(one), 0)
  if (sum(({ identities }) => identities.length) > MAX_IDENTITIES) return `${showCount(MAX_IDENTITIES)} identities`
  if (sum(countEnrolments) > MAX_ENROLMENTS) return `${showCount(MAX_ENROLMENTS)} enrolments`
  return undefined
}

/**
 * Returns the ids to remove. A contact has one customer id: the one sent, or a proven one, or the first. All others are
 * unproven.
 */
function releasedIds(joined: ContactState[], sentId: string | undefined): IdentityPlan['release'] {
  const existing = joined.flatMap((contact) => {
    const id = customerIdOf(contact)
    return id ? [{ contact, value: id.value, proven: id.proven }] : []
  })
  const keptId = sentId ?? (existing.find((id) => id.proven) ?? existing[0])?.value
  return existing.filter((id) => id.value !== keptId).map(({ contact, value }) => ({ contact, value }))
}

function planUnkeyed(fields: SentField[], pageIdentify: PageIdentify): IdentityPlan {
  const id = fields.find(isCustomerId)
  const others = contactsOf(fields.filter((field) => !isCustomerId(field)))
  const target = id ? targetOfUnkeyedId(id, others) : (others[0] ?? null)
  const attach: SentField[] = []
  const warnings: string[] = []
  for (const field of fields) {
    if (field.owner) {
      if (field.owner !== target) warnings.push(staysElsewhere(field))
    } else if (mayAddUnkeyed(field, target, pageIdentify)) attach.push(field)
    else warnings.push(`${field.kind} was not added to the contact: that takes a call with a secret key`)
  }
  return { target, merges: [], attach, prove: [], release: [], warnings }
}

/**
 * If the contact of the other fields has another customer id, it is another person, and the call gets a new contact.
 */
function targetOfUnkeyedId(id: SentField, others: ContactState[]): ContactState | null {
  if (id.owner) return id.owner
  const found = others[0]
  return found && !customerIdOf(found) ? found : null
}

/**
 * Without a key, a call cannot add a second value of a kind, and cannot add a customer id to a contact that a keyed
 * call has used. With `confirmed`, it cannot add any field to such a contact.
 */
function mayAddUnkeyed(field: SentField, target: ContactState | null, pageIdentify: PageIdentify): boolean {
  if (!target) return true
  if (target.keyed && (pageIdentify === 'confirmed' || isCustomerId(field))) return false
  return !target.identities.some((existing) => existing.kind === field.kind)
}

const isCustomerId = (field: SentField) => field.kind === 'platformCustomerId'

function provenIdOf(contact: ContactState): string | undefined {
  const id = customerIdOf(contact)
  return id?.proven ? id.value : undefined
}

function contactsOf(fields: SentField[]): ContactState[] {
  return [...new Set(fields.flatMap((field) => (field.owner ? [field.owner] : [])))]
}

const staysElsewhere = (field: SentField) => `${field.kind} belongs to another contact and stays there`
