/** Applies the identity plan of one call to the working copy. The result is exactly one contact. */
import { type DecisionContext, type Changes, type IdentityChange, type MergeLogEntry, deltaOf } from '../changes.ts'
import { type Channel, IDENTITY_KINDS, type Identity, type IdentityKind } from '../events/facts.ts'
import { MAX_OF_A_KIND } from '../limits.ts'
import { mergeContacts } from './merge-contacts.ts'
import { type SentField, planIdentity } from './resolve-identity.ts'
import { emptyWatchedFacts } from '../segments/membership/watched-facts.ts'
import { watchFact, watchNewContact } from '../segments/membership/watch-item.ts'
import { type ContactState, type State, contactOf, identityKey } from '../state.ts'
import { moveOptOuts, moveTopicOptOuts } from './move-opt-outs.ts'
import { moveBehind } from './prove-email.ts'
import { suspendLinks } from '../visitors/visitor-links.ts'

interface CallInfo {
  businessId: string
  keyed: boolean
  receivedAt: number
}
interface ContactResult {
  contact: ContactState
  isNew: boolean
  warnings: string[]
}

/** @param named the browser that the call names */
export function findOrCreateContact(
  context: DecisionContext,
  call: CallInfo,
  identity: Identity,
  named: string | null,
): ContactResult {
  const fields = sentFields(context.state, call.businessId, identity)
  if (fields.length === 0) throw new Error('the identity has no field')
  const pageIdentify = context.state.businesses.get(call.businessId)?.pageIdentify ?? 'confirmed'
  const plan = planIdentity(fields, { keyed: call.keyed, pageIdentify })
  let contact = plan.target ?? createContact(context, call)

  if (call.keyed) suspendLinks(context, contact, named, call.receivedAt)
  for (const { contact: holder, value } of plan.release) releaseCustomerId(context, call, holder, contact, value)
  for (const other of plan.merges) {
    const evidence = fields.map(({ kind, value }) => ({ kind, value }))
    const reason = { evidence, at: call.receivedAt, newId: context.newId }
    contact = mergeContacts(context, contact, other, reason)
  }
  const warnings = [...plan.warnings]
  for (const field of plan.attach) {
    if (hasRoomFor(contact, field)) attach(context, call, contact, field)
    else warnings.push(`${field.kind} was not added: a contact has at most ${MAX_OF_A_KIND} of a kind`)
  }
  for (const field of plan.prove) prove(context, contact, field)
  if (call.keyed && !contact.keyed) {
    contact.keyed = true
    deltaOf(context.changes, contact.id).raisesVersion = true
  }
  deltaOf(context.changes, contact.id).keyed ||= call.keyed
  return { contact, isNew: plan.target === null, warnings }
}

const hasRoomFor = ({ identities }: ContactState, { kind }: SentField): boolean =>
  identities.length < MAX_OF_A_KIND || identities.filter((existing) => existing.kind === kind).length < MAX_OF_A_KIND

/** Returns the fields of a call in order of strength, each with its current contact. */
function sentFields(state: State, businessId: string, identity: Identity): SentField[] {
  const fields: SentField[] = []
  for (const kind of IDENTITY_KINDS) {
    const value = identity[kind]
    if (value === undefined) continue
    const ownerId = state.owners[kind].get(businessId, value)
    const owner = ownerId === undefined ? null : contactOf(state, ownerId)
    const proven = owner !== null && identityOf(owner, kind, value).proven
    fields.push({ kind, value, phoneRead: kind === 'phone' && identity.phoneRead === true, owner, proven })
  }
  return fields
}

function createContact(context: DecisionContext, call: CallInfo): ContactState {
  const { state, changes, newId, watch } = context
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
    pastOfKeys: new Map(),
    goalLastAt: new Map(),
    subscriptions: {},
    topics: {},
    tags: 0,
    cleared: null,
    browsers: { listed: 0, waiting: 0 },
    mergedIds: [],
    facts: watch ? emptyWatchedFacts() : null,
  }
  state.contacts.set(contact.id, contact)
  changes.newContacts.set(contact.id, contact)
  watchNewContact(context, contact)
  return contact
}

/**
 * Gives the contact a field that is new, or that another contact has unproven. In the second case, the field moves
 * without a merge.
 */
function attach(context: DecisionContext, call: CallInfo, contact: ContactState, field: SentField): void {
  const { state, changes } = context
  const { kind, value } = field
  watchFact(context, contact, `identity:${kind}`)
  if (field.owner) {
    watchFact(context, field.owner, `identity:${kind}`)
    drop(field.owner, kind, value)
    deltaOf(changes, field.owner.id).raisesVersion = true
    const optOuts = moveOptOuts(context, kind, field.owner, contact)
    moveTopicOptOuts(context, kind, field.owner, contact)
    logLeaving(context, call, 'moved', contact, field.owner, { kind, value }, optOuts)
  }
  contact.identities.push({ kind, value, proven: call.keyed })
  state.owners[kind].set(call.businessId, value, contact.id)
  recordIdentity(changes, contact, field, field.owner ? 'leaves' : 'none')
}

function prove({ changes }: DecisionContext, contact: ContactState, field: SentField): void {
  const identity = identityOf(contact, field.kind, field.value)
  identity.proven = true
  moveBehind(contact, identity)
  recordIdentity(changes, contact, field, 'stays')
}

/** Removes an unproven customer id that another one replaces. */
function releaseCustomerId(
  context: DecisionContext,
  call: CallInfo,
  holder: ContactState,
  contact: ContactState,
  value: string,
): void {
  const kind = 'platformCustomerId'
  watchFact(context, holder, `identity:${kind}`)
  drop(holder, kind, value)
  context.state.owners[kind].delete(call.businessId, value)
  recordIdentity(context.changes, holder, { kind, value, phoneRead: false }, 'leaves')
  logLeaving(context, call, 'released', contact, holder, { kind, value })
}

function recordIdentity(
  changes: Changes,
  { id, businessId }: ContactState,
  { kind, value, phoneRead }: Pick<SentField, 'kind' | 'value' | 'phoneRead'>,
  row: IdentityChange['row'],
): void {
  const key = identityKey(businessId, kind, value)
  const earlier = changes.identities.get(key)
  // Keep the map in the order in which contacts got the identities, or proved them.
  changes.identities.delete(key)
  changes.identities.set(key, {
    businessId,
    kind,
    value,
    phoneRead: phoneRead || earlier?.phoneRead === true,
    // The state of the row before this batch: moves within the batch do not change whether it exists or must be
    // removed.
    row: earlier && earlier.row !== 'stays' ? earlier.row : row,
  })
  deltaOf(changes, id).raisesVersion = true
}

function logLeaving(
  { changes, newId }: DecisionContext,
  call: CallInfo,
  action: 'moved' | 'released',
  contact: ContactState,
  from: ContactState,
  evidence: MergeLogEntry['evidence'][number],
  optOuts: Channel[] = [],
): void {
  changes.mergeLog.push({
    businessId: call.businessId,
    id: newId(),
    action,
    contactId: contact.id,
    losingId: from.id,
    evidence: [evidence],
    recordedAt: call.receivedAt,
    ...(optOuts.length > 0 && { optOuts }),
  })
}

function identityOf(contact: ContactState, kind: IdentityKind, value: string) {
  const existing = contact.identities.find((identity) => identity.kind === kind && identity.value === value)
  if (!existing) throw new Error(`the ${kind} does not belong to contact ${contact.id}`)
  return existing
}

function drop(contact: ContactState, kind: IdentityKind, value: string): void {
  contact.identities = contact.identities.filter((existing) => existing.kind !== kind || existing.value !== value)
}
