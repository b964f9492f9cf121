/**
 * The heart: decides one item after the other against the working copy of the state, and gathers what has to change.
 * Pure: `newId` is the only source of ids, `receivedAt` of each item the only clock.
 */
import { addTags } from './events/add-tags.ts'
import { applyTraits } from './events/apply-traits.ts'
import { type Deciding, deltaOf } from './changes.ts'
import { decideBrowserEvent } from './visitors/decide-browser-event.ts'
import { CHANNELS, type EventFact, type Subscriptions } from './events/facts.ts'
import { fillProfile } from './identity/fill-profile.ts'
import { decideEdit } from './identity/decide-edit.ts'
import { findOrCreateContact } from './identity/find-or-create-contact.ts'
import type {
  Decision,
  EraseDecision,
  EraseItem,
  EventDecision,
  EventItem,
  IdentifyDecision,
  IdentifyItem,
  Item,
  SubscribeDecision,
  SubscribeItem,
} from './item.ts'
import { MAX_BROWSERS, showCount } from './limits.ts'
import { type Link, MAX_CONTACTS_PER_VISITOR, linkByEvent, linkVisitor } from './visitors/link-visitor.ts'
import { amountToNumber } from './events/money.ts'
import { namedContact } from './identity/named-contact.ts'
import { recordEvent, rememberKey } from './events/record-event.ts'
import { type ContactState, type StoredConsent, scopedKey } from './state.ts'

export function decide(deciding: Deciding, item: Item): Decision {
  if (!deciding.state.businesses.get(item.businessId)?.active)
    throw new Error('the business does not exist or is inactive')
  // The stream gives an erasure or an edit a micro-batch of its own: decided beside others, an erasure would take new facts
  // with it, and an edit would undo what came after it.
  const { erasures, edits, deltas } = deciding.changes
  const travelsAlone = item.kind === 'erase' || item.kind === 'edit'
  if (erasures.length + edits.length > 0 || (travelsAlone && deltas.size > 0))
    throw new Error('an erasure or an edit travels alone')
  switch (item.kind) {
    case 'event':
      return decideEvent(deciding, item)
    case 'browser':
      return decideBrowserEvent(deciding, item)
    case 'identify':
      return decideIdentify(deciding, item)
    case 'subscribe':
      return decideSubscribe(deciding, item)
    case 'edit':
      return decideEdit(deciding, item)
    case 'erase':
      return decideErase(deciding, item)
  }
}

/** A repeat of a key records nothing; its tags, traits and identity fields are applied (decisions, "Idempotency"). */
function decideEvent(deciding: Deciding, item: EventItem): EventDecision {
  const { fact } = item
  const recorded =
    fact.idempotencyKey === null ? undefined : deciding.state.keys.get(scopedKey(item.businessId, fact.idempotencyKey))
  if (recorded?.erasedAs) return answerErased(fact, recorded.erasedAs)

  const named = recorded ? null : fact.visitorId
  const { contact, isNew, warnings } = findOrCreateContact(deciding, item, fact.identity, named)
  const tags = recorded?.removedTags ? fact.tags.filter((tag) => !recorded.removedTags?.includes(tag)) : fact.tags
  warnings.push(...addTags(deciding, contact, tags))
  const traitsAt = recorded && !fact.occurredAtSent ? recorded.occurredAt : fact.occurredAt
  warnings.push(...applyTraits(deciding, contact, fact.traits, traitsAt, item.receivedAt))

  if (!recorded) warnings.push(...recordNew(deciding, contact, item))
  const { type, counted, warning } = fact.meaning
  return {
    contactId: contact.id,
    isNew,
    deduped: recorded !== undefined,
    interpreted: { type, countedRevenue: recorded ? 0 : amountToNumber(counted) },
    warnings: [...fact.warnings, ...(recorded || warning === undefined ? [] : [warning]), ...warnings],
  }
}

/** @returns warnings */
function recordNew(deciding: Deciding, contact: ContactState, item: EventItem): string[] {
  const { fact, businessId, receivedAt } = item
  const { idempotencyKey: key, occurredAt, visitorId } = fact
  if (key !== null) rememberKey(deciding, { businessId, key, contactId: contact.id, occurredAt })
  const { keyed, isReplay: mayBeLate } = item
  const said = { keyed, at: receivedAt, since: receivedAt, mayBeLate }
  const link = visitorId === null ? null : linkByEvent(deciding, contact, { visitorId, ...said })
  const warnings = recordEvent(deciding, contact, item)
  return link === 'full' ? [NOT_LINKED, ...warnings] : warnings
}

/** Nothing brings an erased person back: the answer names the id that was erased. */
function answerErased(fact: EventFact, contactId: string): EventDecision {
  return {
    contactId,
    isNew: false,
    deduped: true,
    interpreted: { type: fact.meaning.type, countedRevenue: 0 },
    warnings: [...fact.warnings, 'the recorded event belongs to an erased contact: nothing was applied'],
  }
}

const LINKS_NOBODY = `the visitorId links nobody any more: over ${MAX_CONTACTS_PER_VISITOR} contacts were identified with it`

const NOT_LINKED = `the visitorId was not linked: a contact has at most ${showCount(MAX_BROWSERS)} browsers`

function decideIdentify(deciding: Deciding, item: IdentifyItem): IdentifyDecision {
  const { fact, businessId, receivedAt } = item
  const { contact, isNew, warnings } = findOrCreateContact(deciding, item, fact.identity, fact.visitorId)
  fillProfile(deciding, contact, fact.profile, item.keyed)
  warnings.push(...applyTraits(deciding, contact, fact.traits, fact.traitsAt ?? receivedAt, receivedAt))
  const link = linkIdentified(deciding, contact, item)
  if (link === 'crowded') warnings.push(LINKS_NOBODY)
  if (link === 'full') warnings.push(NOT_LINKED)
  deciding.changes.identifications.push({
    businessId,
    id: deciding.newId(),
    contactId: contact.id,
    identifiedAt: receivedAt,
    method: fact.method,
    keyed: item.keyed,
    visitorId: fact.visitorId,
  })
  // Without a key the answer shows only contacts that the visitor was identified with before. It hides nothing from a caller
  // who makes up a visitor id, identifies a person with it, and asks again: docs/security.md, "Not promised".
  const mayKnow = item.keyed || isNew || link === 'known'
  return {
    contactId: contact.id,
    isNew,
    linkedVisitor: link === 'new',
    subscriptions: mayKnow ? subscriptionsOf(contact) : subscriptionsOf(null),
    warnings: [...fact.warnings, ...warnings],
  }
}

function linkIdentified(deciding: Deciding, contact: ContactState, item: IdentifyItem): Link | null {
  const { fact, keyed, receivedAt: at, isReplay } = item
  const { visitorId, ageMs = 0 } = fact
  if (visitorId === null) return null
  return linkVisitor(deciding, contact, { visitorId, keyed, at, since: at - ageMs, mayBeLate: isReplay || ageMs > 0 })
}

/** The stream gives an erasure a micro-batch of its own: nothing that is decided beside it can bring the person back. */
function decideErase({ state, changes }: Deciding, item: EraseItem): EraseDecision {
  const contact = namedContact(state, item)
  if (!contact) return { contactId: null }
  changes.erasures.push({ businessId: item.businessId, contactId: contact.id })
  return { contactId: contact.id, erasedIds: [contact.id, ...contact.mergedIds] }
}

function decideSubscribe({ state, changes }: Deciding, item: SubscribeItem): SubscribeDecision {
  const contact = namedContact(state, item)
  if (!contact) return { contactId: null }
  deltaOf(changes, contact.id)
  for (const channel of CHANNELS) {
    const subscribed = item.channels[channel]
    const held = contact.subscriptions[channel]
    if (subscribed === undefined || (item.isReplay && isChosenSince(held, item.receivedAt))) continue
    const key = `${contact.id} ${channel}`
    const made = changes.subscriptions.get(key)
    const was = made ? made.was : held
    contact.subscriptions[channel] = { subscribed, at: item.receivedAt }
    changes.subscriptions.set(key, {
      businessId: item.businessId,
      contactId: contact.id,
      channel,
      subscribed,
      method: item.method,
      recordedAt: item.receivedAt,
      was,
    })
  }
  return { contactId: contact.id, subscriptions: subscriptionsOf(contact) }
}

/** The order of the stream decides which choice is the last, not a clock; only a replayed choice has to look for a later one. */
const isChosenSince = (held: StoredConsent | undefined, at: number): boolean => held !== undefined && held.at > at

/** A contact is subscribed to nothing until an opt-in is recorded. */
function subscriptionsOf(contact: ContactState | null): Subscriptions {
  const { email, sms, whatsapp, push } = contact?.subscriptions ?? {}
  return {
    email: email?.subscribed ?? false,
    sms: sms?.subscribed ?? false,
    whatsapp: whatsapp?.subscribed ?? false,
    push: push?.subscribed ?? false,
  }
}
