/** Records choices of channels and topics. */
import { type DecisionContext, deltaOf } from '../changes.ts'
import { CHANNELS, type Channel, type Subscriptions } from '../events/facts.ts'
import { contactById } from '../identity/contact-by-id.ts'
import { proveEmail } from '../identity/prove-email.ts'
import type { Item, SubscribeDecision, SubscribeRequest } from '../item.ts'
import { watchFact } from '../segments/membership/watch-item.ts'
import type { ContactState, StoredConsent } from '../state.ts'
import { channelsWithoutTopic, recordTopics } from '../topics/record-topics.ts'
import { topicFaults } from '../topics/topic-faults.ts'
import { staysAsItIs } from './stays-as-it-is.ts'

export function decideSubscribe(context: DecisionContext, item: Item<SubscribeRequest>): SubscribeDecision {
  const { state, changes } = context
  const contact = contactById(state, item)
  if (!contact) return { contactId: null }
  const { topics = [] } = item
  const unchanged = { contactId: contact.id, subscriptions: subscriptionsOf(contact) }
  const issues = topicFaults(state.businesses.get(item.businessId)?.topics ?? new Map(), topics)
  if (issues.length > 0) return { ...unchanged, issues }
  if (item.proves !== undefined && !proveEmail(changes, contact, item.proves)) return unchanged
  recordChannels(context, contact, item, item.channels)
  const warnings = recordTopics(context, contact, item)
  if (item.endsLast) {
    const ended = channelsWithoutTopic(context, contact, topics)
    recordChannels(context, contact, item, Object.fromEntries(ended.map((channel) => [channel, false])))
  }
  return { contactId: contact.id, subscriptions: subscriptionsOf(contact), ...(warnings.length > 0 && { warnings }) }
}

function recordChannels(
  context: DecisionContext,
  contact: ContactState,
  item: Item<SubscribeRequest>,
  channels: Partial<Subscriptions>,
): void {
  const { changes } = context
  const delta = deltaOf(changes, contact.id)
  for (const channel of CHANNELS) {
    const subscribed = channels[channel]
    const existing = contact.subscriptions[channel]
    if (subscribed === undefined) continue
    const choice = { businessId: item.businessId, contactId: contact.id, channel, subscribed, method: item.method }
    const recordedAt = item.at ?? item.receivedAt
    if (item.at !== undefined) changes.pastChoices.push({ ...choice, recordedAt })
    if (isLeft(item, channel, subscribed, existing)) continue
    const key = `${contact.id} ${channel}`
    const made = changes.subscriptions.get(key)
    const was = made ? made.was : existing
    if (existing?.subscribed !== subscribed) {
      watchFact(context, contact, `subscription:${channel}`)
      // An opt-out moves with an address: another partition must not decide without it.
      delta.raisesVersion = true
    }
    contact.subscriptions[channel] = { subscribed, at: recordedAt }
    changes.subscriptions.set(key, { ...choice, recordedAt, was })
  }
}

/** Returns whether the channel stays unchanged. */
function isLeft(
  item: Item<SubscribeRequest>,
  channel: Channel,
  subscribed: boolean,
  existing: StoredConsent | undefined,
): boolean {
  if (staysAsItIs(item, subscribed, existing)) return true
  const replaced = item.at === undefined ? item.replaces?.[channel] : undefined
  return replaced !== undefined && existing?.at !== replaced
}

/** A contact has no subscription until an opt-in is recorded. */
export function subscriptionsOf(contact: ContactState | null): Subscriptions {
  const { email, sms, whatsapp, push } = contact?.subscriptions ?? {}
  return {
    email: email?.subscribed ?? false,
    sms: sms?.subscribed ?? false,
    whatsapp: whatsapp?.subscribed ?? false,
    push: push?.subscribed ?? false,
  }
}
