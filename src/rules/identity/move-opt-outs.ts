/** An opt-out belongs to an address. When the address moves to another contact, the opt-out moves with it. */
import type { DecisionContext } from '../changes.ts'
import type { Channel, IdentityKind } from '../events/facts.ts'
import { watchFact } from '../segments/membership/watch-item.ts'
import type { ContactState } from '../state.ts'
import { type TopicChannel, readTopicChannel } from '../topics/topic.ts'

const CHANNELS_OF: Record<IdentityKind, readonly Channel[]> = {
  email: ['email'],
  phone: ['sms', 'whatsapp'],
  platformCustomerId: [],
}

/** Copies the opt-outs of topics, as `moveOptOuts` does those of channels. The save copies those in Postgres. */
export function moveTopicOptOuts(
  context: DecisionContext,
  kind: IdentityKind,
  from: ContactState,
  to: ContactState,
): void {
  const { topicChoices, topicMoves } = context.changes
  for (const name of Object.keys(from.topics) as TopicChannel[]) {
    const found = readTopicChannel(name)
    const existing = from.topics[name]
    if (found === null || !CHANNELS_OF[kind].includes(found.channel)) continue
    if (existing?.subscribed !== false || to.topics[name]?.subscribed === false) continue
    const [fromKey, toKey] = [`${from.id} ${name}`, `${to.id} ${name}`]
    const [theirs, ours] = [topicChoices.get(fromKey), topicChoices.get(toKey)]
    const was = ours ? ours.was : to.topics[name]
    watchFact(context, to, `topic:${name}`)
    to.topics[name] = existing
    if (theirs) topicChoices.set(toKey, { ...theirs, contactId: to.id, was })
    else {
      topicChoices.delete(toKey)
      topicMoves.push({ businessId: to.businessId, contactId: to.id, losingId: from.id, ...found })
    }
  }
}

/**
 * Copies the opt-outs of this micro-batch when an identity of this kind moves to another contact.
 * @returns the channels whose opt-outs are in Postgres, for the merge log: the save copies them
 */
export function moveOptOuts(
  context: DecisionContext,
  kind: IdentityKind,
  from: ContactState,
  to: ContactState,
): Channel[] {
  const { subscriptions } = context.changes
  const stored: Channel[] = []
  for (const channel of CHANNELS_OF[kind]) {
    const existing = from.subscriptions[channel]
    if (existing?.subscribed !== false || to.subscriptions[channel]?.subscribed === false) continue
    const [fromKey, toKey] = [`${from.id} ${channel}`, `${to.id} ${channel}`]
    const [theirs, ours] = [subscriptions.get(fromKey), subscriptions.get(toKey)]
    const was = ours ? ours.was : to.subscriptions[channel]
    if (to.subscriptions[channel]?.subscribed) watchFact(context, to, `subscription:${channel}`)
    to.subscriptions[channel] = existing
    if (theirs) subscriptions.set(toKey, { ...theirs, contactId: to.id, was })
    else {
      // An opt-in of the new contact in this micro-batch would overwrite the opt-out that the save copies.
      subscriptions.delete(toKey)
      stored.push(channel)
    }
  }
  return stored
}
