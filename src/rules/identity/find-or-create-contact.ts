/** Carries out the identity plan of one call on the working copy: exactly one contact comes out. */
import { type Deciding, type Changes, type IdentityChange, deltaOf } from '../changes.ts'
import { IDENTITY_KINDS, type Identity, type IdentityKind } from '../events/facts.ts'
import { MAX_OF_A_KIND } from '../limits.ts'
import { mergeContacts } from './merge-contacts.ts'
import { type SentField, planIdentity } from './resolve-identity.ts'
import { type ContactState, type State, contactOf, identityKey } from '../state.ts'
import { takeOptOuts } from './take-opt-outs.ts'
import { makeLinksWait } from '../visitors/visitor-links.ts'

interface Call {
  businessId: string
  keyed: boolean
  receivedAt: number
}
interface Found {
  contact: ContactState
  isNew: boolean
  warnings: string[]
}

/** @param named the browser that the call names */
export function findOrCreateContact(deciding: Deciding, call: Call, identity: Identity, named: string | null): Found {
  const fields = sentFields(deciding.state, call.businessId, identity)
  if (fields.length === 0) throw new Error('the identity has no field')
  const pageIdentify = deciding.state.businesses.get(call.businessId)?.pageIdentify ?? 'confirmed'
  const plan = planIdentity(fields, { keyed: call.keyed, pageIdentify })
  let contact = plan.target ?? createContact(deciding, call)

  if (call.keyed) makeLinksWait(deciding, contact, named, call.receivedAt)
  for (const { contact: holder, value } of plan.release) releaseCustomerId(deciding, call, holder, contact, value)
  for (const other of plan.merges) {
    const evidence = fields.map(({ kind, value }) => ({ kind, value }))
    const reason = { evidence, at: call.receivedAt, newId: deciding.newId }
    contact = mergeContacts(deciding.state, deciding.changes, contact, other, reason)
  }
  const warnings = [...plan.warnings]
  for (const field of plan.attach) {
    if (hasRoomFor(contact, field)) attach(deciding, call, contact, field)
    else warnings.push(`${field.kind} was not added: a contact has at most ${MAX_OF_A_KIND} of a kind`)
  }
  for (const field of plan.prove) prove(deciding, contact, field)
  if (call.keyed && !contact.keyed) {
    contact.keyed = true
    deltaOf(deciding.changes, contact.id).raisesVersion = true
  }
  deltaOf(deciding.changes, contact.id).keyed ||= call.keyed
  return { contact, isNew: plan.target === null, warnings }
}

const hasRoomFor = ({ identities }: ContactState, { kind }: SentField): boolean =>
  identities.length < MAX_OF_A_KIND || identities.filter((held) => held.kind === kind).length < MAX_OF_A_KIND

/** The fields of a call in order of strength, each with the contact that holds it now. */
function sentFields(state: State, businessId: string, identity: Identity): SentField[] {
  const fields: SentField[] = []
  for (const kind of IDENTITY_KINDS) {
    const value = identity[kind]
    if (value === undefined) continue
    const ownerId = state.owners.get(identityKey(businessId, kind, value))
    const owner = ownerId === undefined ? null : contactOf(state, ownerId)
    const proven = owner !== null && heldBy(owner, kind, value).proven
    fields.push({ kind, value, phoneRead: kind === 'phone' && identity.phoneRead === true, owner, proven })
  }
  return fields
}

function createContact({ state, changes, newId }: Deciding, call: Call): ContactState {
  const contact: ContactState = {
    id: newId(),
    businessId: call.businessId,
    createdAt: call.receivedAt,
    version: null,
    keyed: call.keyed,
    stage: 0,
    identities: [],
    profile: {},
    pageFilled: 0,
    enrolments: [],
    goalLastAt: new Map(),
    subscriptions: {},
    tags: 0,
    cleared: null,
    browsers: { listed: 0, waiting: 0 },
    mergedIds: [],
  }
  state.contacts.set(contact.id, contact)
  changes.newContacts.set(contact.id, contact)
  return contact
}

/** The contact gets the field: unknown so far, or unproven at another contact, which it leaves without a merge. */
function attach(deciding: Deciding, call: Call, contact: ContactState, field: SentField): void {
  const { state, changes } = deciding
  const { kind, value } = field
  if (field.owner) {
    drop(field.owner, kind, value)
    deltaOf(changes, field.owner.id).raisesVersion = true
    logLeaving(deciding, call, 'moved', contact, field.owner, kind, value)
    takeOptOuts(changes, kind, field.owner, contact)
  }
  contact.identities.push({ kind, value, proven: call.keyed })
  state.owners.set(identityKey(call.businessId, kind, value), contact.id)
  recordIdentity(changes, contact, field, field.owner ? 'leaves' : 'none')
}

function prove({ changes }: Deciding, contact: ContactState, field: SentField): void {
  heldBy(contact, field.kind, field.value).proven = true
  recordIdentity(changes, contact, field, 'stays')
}

/** An unproven customer id gives way to the one that counts. */
function releaseCustomerId(
  deciding: Deciding,
  call: Call,
  holder: ContactState,
  contact: ContactState,
  value: string,
): void {
  const kind = 'platformCustomerId'
  drop(holder, kind, value)
  deciding.state.owners.delete(identityKey(call.businessId, kind, value))
  recordIdentity(deciding.changes, holder, { kind, value, phoneRead: false }, 'leaves')
  logLeaving(deciding, call, 'released', contact, holder, kind, value)
}

function recordIdentity(
  changes: Changes,
  { id, businessId }: ContactState,
  { kind, value, phoneRead }: Pick<SentField, 'kind' | 'value' | 'phoneRead'>,
  row: IdentityChange['row'],
): void {
  const key = identityKey(businessId, kind, value)
  const earlier = changes.identities.get(key)
  // In the order in which their contacts got them.
  if (row !== 'stays') changes.identities.delete(key)
  changes.identities.set(key, {
    businessId,
    kind,
    value,
    phoneRead: phoneRead || earlier?.phoneRead === true,
    // What this batch found in Postgres: taken, released and taken again, it is still not there, or still to leave.
    row: earlier && earlier.row !== 'stays' ? earlier.row : row,
  })
  deltaOf(changes, id).raisesVersion = true
}

function logLeaving(
  { changes, newId }: Deciding,
  call: Call,
  action: 'moved' | 'released',
  contact: ContactState,
  from: ContactState,
  kind: IdentityKind,
  value: string,
): void {
  changes.mergeLog.push({
    businessId: call.businessId,
    id: newId(),
    action,
    contactId: contact.id,
    losingId: from.id,
    evidence: [{ kind, value }],
    recordedAt: call.receivedAt,
  })
}

function heldBy(contact: ContactState, kind: IdentityKind, value: string) {
  const held = contact.identities.find((identity) => identity.kind === kind && identity.value === value)
  if (!held) throw new Error(`the ${kind} is not held by contact ${contact.id}`)
  return held
}

function drop(contact: ContactState, kind: IdentityKind, value: string): void {
  contact.identities = contact.identities.filter((held) => held.kind !== kind || held.value !== value)
}
