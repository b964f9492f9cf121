/** The topics of the preference page, and which choices a form asks for. */
import type { Channel } from '../../rules/events/facts.ts'
import type { TopicChoice } from '../../rules/item.ts'
import { type TopicName, isChosen } from '../../rules/topics/topic.ts'

export interface PageTopic {
  key: string
  channels: Channel[]
  defaultOn: boolean
  isPublic: boolean
  isActive: boolean
  names: Record<string, TopicName>
  defaultLanguage: string
  choices: { channel: Channel; subscribed: boolean }[]
  /** Channels for which the page has recorded too many choices: it opens the topic no more. */
  usedUp: Channel[]
}

/** What a form was shown with, and how its boxes stand, by key of the topic. */
export interface SentBoxes {
  shown: ReadonlyMap<string, boolean>
  on: ReadonlySet<string>
}

export const isShownAs = ({ defaultOn, choices }: PageTopic, channel: Channel): boolean =>
  isChosen(
    choices.find((choice) => choice.channel === channel),
    defaultOn,
  )

/** Returns the public topics of the channel, and those private ones that the contact gets. */
export const boxesOf = (topics: readonly PageTopic[], channel: Channel): PageTopic[] =>
  topics.filter(
    (topic) => topic.isActive && topic.channels.includes(channel) && (topic.isPublic || isShownAs(topic, channel)),
  )

/**
 * Returns the boxes that differ from what the form was shown with: an old form undoes nothing else. When a channel is
 * opened again, every box counts.
 */
export function chosenBoxes(
  topics: readonly PageTopic[],
  channel: Channel,
  { shown, on }: SentBoxes,
  opens: boolean,
): TopicChoice[] {
  return topics.flatMap((topic) => {
    const was = shown.get(topic.key)
    if (was === undefined || !topic.channels.includes(channel)) return []
    const subscribed = on.has(topic.key)
    // What the form says of a private topic may be old, or forged.
    const isOffered = topic.isActive && (topic.isPublic || isShownAs(topic, channel))
    const mayJoin = isOffered && !topic.usedUp.includes(channel)
    if (subscribed && !mayJoin) return []
    return opens || subscribed !== was ? [{ topic: topic.key, channel, subscribed }] : []
  })
}
