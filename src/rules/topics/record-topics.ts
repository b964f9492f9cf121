/** Records choices of topics in the working copy. */
import { type DecisionContext, deltaOf } from '../changes.ts'
import { staysAsItIs } from '../consent/stays-as-it-is.ts'
import { CHANNELS, type Channel } from '../events/facts.ts'
import type { Item, SubscribeRequest, TopicChoice } from '../item.ts'
import { watchFact } from '../segments/membership/watch-item.ts'
import type { ContactState } from '../state.ts'
import { isChosen, topicChannel } from './topic.ts'

/** Returns warnings. */
export function recordTopics(context: DecisionContext, contact: ContactState, item: Item<SubscribeRequest>): string[] {
  const { changes } = context
  for (const { topic, channel, subscribed } of item.topics ?? []) {
    const name = topicChannel(topic, channel)
    const existing = contact.topics[name]
    const recordedAt = item.at ?? item.receivedAt
    const { businessId, method } = item
    const choice = { businessId, contactId: contact.id, topic, channel, subscribed, method, recordedAt }
    if (item.at !== undefined) changes.pastTopicChoices.push(choice)
    const isAnswered = item.topicsAskedAt !== undefined && existing !== undefined && existing.at >= item.topicsAskedAt
    if (isAnswered || staysAsItIs(item, subscribed, existing)) continue
    const key = `${contact.id} ${name}`
    const made = changes.topicChoices.get(key)
    const was = made ? made.was : existing
    if (existing?.subscribed !== subscribed) {
      watchFact(context, contact, `topic:${name}`)
      deltaOf(changes, contact.id).raisesVersion = true
    }
    contact.topics[name] = { subscribed, at: recordedAt }
    changes.topicChoices.set(key, { ...choice, was })
  }
  return warningsOf(contact, item.topics ?? [])
}

/** A choice for a topic does not open its channel. */
function warningsOf({ subscriptions }: ContactState, choices: readonly TopicChoice[]): string[] {
  const closed = CHANNELS.filter(
    (channel) =>
      !subscriptions[channel]?.subscribed && choices.some((choice) => choice.channel === channel && choice.subscribed),
  )
  return closed.map((channel) => `topics: the contact has not opted in to ${channel}, so nothing of them is sent by it`)
}

/**
 * Returns the channels by which the contact has left a topic with these choices, and gets no other active topic. Who has
 * left all topics of today must not get one that is made tomorrow.
 */
export function channelsWithoutTopic(
  { state }: Pick<DecisionContext, 'state'>,
  contact: ContactState,
  choices: readonly TopicChoice[],
): Channel[] {
  const topics = [...(state.businesses.get(contact.businessId)?.topics ?? [])]
  return CHANNELS.filter(
    (channel) =>
      contact.subscriptions[channel]?.subscribed === true &&
      choices.some((choice) => choice.channel === channel && !choice.subscribed) &&
      !topics.some(
        ([topic, { channels, isActive, defaultOn }]) =>
          isActive && channels.includes(channel) && isChosen(contact.topics[topicChannel(topic, channel)], defaultOn),
      ),
  )
}
