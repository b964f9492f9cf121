/**
 * Decides one item against the working copy of the state, and collects the changes to save. It does no I/O: all ids
 * come from `newId`, and the only clock is the `receivedAt` of each item.
 */
import { addTags } from './events/add-tags.ts'
import { applyTraits } from './events/apply-traits.ts'
import type { DecisionContext } from './changes.ts'
import type { TriggerEvent } from './campaigns/campaign-changes.ts'
import { decideBrowserEvent } from './visitors/decide-browser-event.ts'
import type { EventFact } from './events/facts.ts'
import { fillProfile } from './identity/fill-profile.ts'
import { decideWebTrigger } from './campaigns/decide-web-trigger.ts'
import { decideMessageEvent } from './messages/decide-message-event.ts'
import { decideEdit } from './identity/decide-edit.ts'
import { makeAllPrimary } from './identity/make-primary.ts'
import { decideSubscribe, subscriptionsOf } from './consent/decide-subscribe.ts'
import { findOrCreateContact } from './identity/find-or-create-contact.ts'
import type {
  Decision,
  EraseDecision,
  EraseRequest,
  EventDecision,
  TrackRequest,
  IdentifyDecision,
  IdentifyRequest,
  Item,
} from './item.ts'
import { MAX_BROWSERS, showCount } from './limits.ts'
import { type LinkOutcome, MAX_CONTACTS_PER_VISITOR, linkByEvent, linkVisitor } from './visitors/link-visitor.ts'
import { amountToNumber } from './events/money.ts'
import { contactById } from './identity/contact-by-id.ts'
import { recordEvent, rememberKey } from './events/record-event.ts'
import { collectEffects } from './effects.ts'
import { beginWatch, settleBeforeErasure, settleItem } from './segments/membership/watch-item.ts'
import { type ContactState, type State, survivorOf } from './state.ts'

export function decide(context: DecisionContext, item: Item): Decision {
  const { state, changes } = context
  changes.effects = 'effects' in item && item.effects ? [] : null
  const watch = beginWatch(context, item)
  const event = triggerOf(state, item)
  const watching =
    watch || event
      ? { ...context, ...(watch && { watch }), ...(event && { event }), chain: { root: null, refused: null } }
      : context
  const decision = decideItem(watching, item)
  settleItem(watching)
  const { effects: noted } = changes
  if (!noted) return decision
  const { contactId } = decision
  return contactId === null
    ? decision
    : { ...decision, effects: collectEffects(noted, contactId, (id) => survivorOf(state, id)) }
}

/** Returns null when the item, or its business, can start no campaign. */
function triggerOf({ businesses }: State, item: Item): TriggerEvent | null {
  if (!businesses.get(item.businessId)?.campaigns.length) return null
  if (item.kind !== 'track' && item.kind !== 'browser' && item.kind !== 'message_event') return null
  const { event: name, properties } = item.fact
  return { name, properties, isKeyed: item.kind === 'message_event' || (item.kind === 'track' && item.keyed) }
}

function decideItem(context: DecisionContext, item: Item): Decision {
  if (!context.state.businesses.get(item.businessId)?.active)
    throw new Error('the business does not exist or is inactive')
  // The stream gives an erasure or an edit a micro-batch of its own. Together with other items, an erasure would delete
  // newer facts, and an edit would overwrite later changes.
  const { erasures, edits, deltas } = context.changes
  const isExclusive = item.kind === 'erase' || item.kind === 'edit'
  if (erasures.length + edits.length > 0 || (isExclusive && deltas.size > 0))
    throw new Error('an erasure or an edit must be alone in its micro-batch')
  switch (item.kind) {
    case 'track':
      return decideEvent(context, item)
    case 'browser':
      return decideBrowserEvent(context, item)
    case 'identify':
      return decideIdentify(context, item)
    case 'subscribe':
      return decideSubscribe(context, item)
    case 'edit':
      return decideEdit(context, item)
    case 'message_event':
      return decideMessageEvent(context, item)
    case 'web_trigger':
      return decideWebTrigger(context, item)
    case 'erase':
      return decideErase(context, item)
  }
}

/**
 * A repeat of a key records nothing, but its tags, traits and identity fields are still applied (decisions,
 * "Idempotency").
 */
function decideEvent(context: DecisionContext, item: Item<TrackRequest>): EventDecision {
  const { fact } = item
  const recorded =
    fact.idempotencyKey === null ? undefined : context.state.keys.get(item.businessId, fact.idempotencyKey)
  if (recorded?.erasedAs) return erasedDecision(fact, recorded.erasedAs)

  const named = recorded ? null : fact.visitorId
  const { contact, isNew, warnings } = findOrCreateContact(context, item, fact.identity, named)
  const tags = recorded?.removedTags ? fact.tags.filter((tag) => !recorded.removedTags?.includes(tag)) : fact.tags
  warnings.push(...addTags(context, contact, tags))
  const traitsAt = recorded && !fact.occurredAtSent ? recorded.occurredAt : fact.occurredAt
  warnings.push(...applyTraits(context, contact, fact.traits, traitsAt, item.receivedAt))

  if (!recorded) warnings.push(...recordNew(context, contact, item))
  else if (recorded.event !== null && recorded.event !== fact.event) warnings.push(usedByAnother(recorded.event))
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
function recordNew(context: DecisionContext, contact: ContactState, item: Item<TrackRequest>): string[] {
  const { fact, businessId, receivedAt } = item
  const { idempotencyKey: key, event, occurredAt, visitorId } = fact
  if (key !== null) rememberKey(context, { businessId, key, event, contactId: contact.id, occurredAt })
  const { keyed, isReplay: mayBeLate } = item
  const identification = { keyed, at: receivedAt, since: receivedAt, mayBeLate }
  const link = visitorId === null ? null : linkByEvent(context, contact, { visitorId, ...identification })
  const warnings = recordEvent(context, contact, item)
  return link === 'full' ? [NOT_LINKED, ...warnings] : warnings
}

const usedByAnother = (event: string) =>
  `the idempotencyKey belongs to an event ${event} that was recorded before, so this event was not recorded: send each event with a key of its own`

/** An erased person is not restored. The decision names the erased id. */
function erasedDecision(fact: EventFact, contactId: string): EventDecision {
  return {
    contactId,
    isNew: false,
    deduped: true,
    interpreted: { type: fact.meaning.type, countedRevenue: 0 },
    warnings: [...fact.warnings, 'the recorded event belongs to an erased contact: nothing was applied'],
  }
}

const VISITOR_SHARED = `the visitorId is no longer linked to a contact: over ${MAX_CONTACTS_PER_VISITOR} contacts were identified with it`

const NOT_LINKED = `the visitorId was not linked: a contact has at most ${showCount(MAX_BROWSERS)} browsers`

function decideIdentify(context: DecisionContext, item: Item<IdentifyRequest>): IdentifyDecision {
  const { fact, businessId, receivedAt } = item
  const { contact, isNew, warnings } = findOrCreateContact(context, item, fact.identity, fact.visitorId)
  // A replay is older than what has become primary since.
  if (item.makesPrimary && !item.isReplay) makeAllPrimary(context, contact, fact.identity)
  fillProfile(context, contact, fact.profile, item.keyed)
  warnings.push(...applyTraits(context, contact, fact.traits, fact.traitsAt ?? receivedAt, receivedAt))
  const link = linkIdentified(context, contact, item)
  if (link === 'crowded') warnings.push(VISITOR_SHARED)
  if (link === 'full') warnings.push(NOT_LINKED)
  context.changes.identifications.push({
    businessId,
    id: context.newId(),
    contactId: contact.id,
    identifiedAt: receivedAt,
    method: fact.method,
    keyed: item.keyed,
    visitorId: fact.visitorId,
  })
  // Without a key, a browser sees the subscriptions only of contacts that it was identified with before. This does not
  // stop a caller who makes up a visitor id, identifies a person with it and repeats the call: docs/security.md, "Not
  // promised".
  const mayKnow = item.keyed || isNew || link === 'known'
  return {
    contactId: contact.id,
    isNew,
    linkedVisitor: link === 'new',
    subscriptions: mayKnow ? subscriptionsOf(contact) : subscriptionsOf(null),
    warnings: [...fact.warnings, ...warnings],
  }
}

function linkIdentified(
  context: DecisionContext,
  contact: ContactState,
  item: Item<IdentifyRequest>,
): LinkOutcome | null {
  const { fact, keyed, receivedAt: at, isReplay } = item
  const { visitorId, ageMs = 0 } = fact
  if (visitorId === null) return null
  return linkVisitor(context, contact, { visitorId, keyed, at, since: at - ageMs, mayBeLate: isReplay || ageMs > 0 })
}

/** The stream gives an erasure a micro-batch of its own, so no other item in the batch can create the person again. */
function decideErase(context: DecisionContext, item: Item<EraseRequest>): EraseDecision {
  const { state, changes } = context
  const contact = contactById(state, item)
  if (!contact) return { contactId: null }
  settleBeforeErasure(context, contact)
  changes.erasures.push({ businessId: item.businessId, contactId: contact.id, at: item.receivedAt })
  return { contactId: contact.id, erasedIds: [contact.id, ...contact.mergedIds] }
}
