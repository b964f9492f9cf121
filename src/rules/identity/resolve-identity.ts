/**
 * Whose call is this? Turns the identity fields of one call, and who holds them, into a plan; changes nothing.
 * The rules are those of decisions, "Identity" and "Callers without a secret key". A wrong merge cannot be undone,
 * a wrong split can: in doubt a field stays where it is, with a warning.
 */
import type { IdentityKind } from '../events/facts.ts'
import { MAX_ENROLMENTS, MAX_IDENTITIES, showCount } from '../limits.ts'
import { type ContactState, type PageIdentify, customerIdOf } from '../state.ts'

/** One identity field of the call; `owner` is the contact that it leads to, if any. */
export interface SentField {
  kind: IdentityKind
  value: string
  phoneRead: boolean
  owner: ContactState | null
  /** The owner holds it as proven by a keyed call. */
  proven: boolean
}

export interface IdentityPlan {
  /** The contact found; null: a new one is made. */
  target: ContactState | null
  /** Contacts that are merged with the target, in order. */
  merges: ContactState[]
  /** Fields that the call's contact gets: unknown ones, and unproven ones that leave another contact. */
  attach: SentField[]
  /** Fields that the call's contact has, and that a keyed call has now proven. */
  prove: SentField[]
  /** Unproven customer ids that give way to the one that counts. */
  release: { contact: ContactState; value: string }[]
  warnings: string[]
}

/**
 * @param fields at least one, in order of strength (IDENTITY_KINDS).
 * @param caller `keyed`: it has a secret key; `pageIdentify`: how far the business trusts those that have none.
 */
export function planIdentity(
  fields: SentField[],
  caller: { keyed: boolean; pageIdentify: PageIdentify },
): IdentityPlan {
  const [only] = fields
  // As most calls are: there is nothing to weigh.
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
  // A contact with another customer id is another person: its fields stay with it.
  const usable = fields.filter((field) => !belongsToAnotherId(field, sentId))
  const warnings = fields.filter((field) => !usable.includes(field)).map(staysElsewhere)

  const proven = contactsOf(usable.filter((field) => field.proven))
  const target = proven[0] ?? unprovenTarget(usable)
  const { merges, apart, refusals } = target
    ? chooseMerges(target, proven, sentId)
    : { merges: [], apart: [], refusals: [] }
  warnings.push(...refusals)

  const joined = target ? [target, ...merges] : []
  const lands = usable.filter((field) => !(field.proven && field.owner && apart.includes(field.owner)))
  warnings.push(...usable.filter((field) => !lands.includes(field)).map(staysElsewhere))
  return {
    target,
    merges,
    attach: lands.filter((field) => !field.owner || !joined.includes(field.owner)),
    prove: lands.filter((field) => field.owner && joined.includes(field.owner) && !field.proven),
    release: releasedIds(joined, sentId),
    warnings,
  }
}

function belongsToAnotherId(field: SentField, sentId: string | undefined): boolean {
  if (sentId === undefined || isCustomerId(field) || !field.owner || !field.proven) return false
  const held = provenIdOf(field.owner)
  return held !== undefined && held !== sentId
}

/**
 * Only unproven fields are known: their contact is taken if no keyed call has used it. Else they leave it: on a person whom
 * servers know, a page's word does not decide whose the field is.
 */
function unprovenTarget(usable: SentField[]): ContactState | null {
  return contactsOf(usable).find((contact) => !contact.keyed) ?? null
}

/** Without a customer id in the call, contacts with different ids stay apart; with one, differing ids were left out before. */
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

/** The limit that these would pass as one contact. */
function limitPassed(contacts: ContactState[]): string | undefined {
  const sum = (count: (contact: ContactState) => number) => contacts.reduce((all, one) => all + count(one), 0)
  if (sum(({ identities }) => identities.length) > MAX_IDENTITIES) return `${showCount(MAX_IDENTITIES)} identities`
  if (sum(({ enrolments }) => enrolments.length) > MAX_ENROLMENTS) return `${showCount(MAX_ENROLMENTS)} enrolments`
  return undefined
}

/** A contact holds one customer id: the one sent, else a proven one, else the first. Unproven others give way. */
function releasedIds(joined: ContactState[], sentId: string | undefined): IdentityPlan['release'] {
  const held = joined.flatMap((contact) => {
    const id = customerIdOf(contact)
    return id ? [{ contact, value: id.value, proven: id.proven }] : []
  })
  const kept = sentId ?? (held.find((id) => id.proven) ?? held[0])?.value
  return held.filter((id) => id.value !== kept).map(({ contact, value }) => ({ contact, value }))
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

/** A customer id that differs from the one that the other fields lead to is another person. */
function targetOfUnkeyedId(id: SentField, others: ContactState[]): ContactState | null {
  if (id.owner) return id.owner
  const found = others[0]
  return found && !customerIdOf(found) ? found : null
}

/**
 * Without a key nobody adds a second value of a kind, nor a customer id to a contact that a keyed call has used; with
 * `confirmed`, nothing to such a contact.
 */
function mayAddUnkeyed(field: SentField, target: ContactState | null, pageIdentify: PageIdentify): boolean {
  if (!target) return true
  if (target.keyed && (pageIdentify === 'confirmed' || isCustomerId(field))) return false
  return !target.identities.some((held) => held.kind === field.kind)
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
