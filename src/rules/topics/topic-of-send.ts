/** The topic of a message, and whether the contact gets it. */
import type { Definition } from '../campaigns/definition.ts'
import type { SendStep } from '../campaigns/steps.ts'
import { CHANNELS, type Channel } from '../events/facts.ts'
import { type TopicChoices, type TopicRules, isChosen, topicChannel } from './topic.ts'

/** What a claim has found out about the topic of a message. `at` (epoch ms) and `method` are those of the choice. */
export interface CheckedTopic {
  key: string
  subscribed: boolean
  from: 'choice' | 'default'
  at: number | null
  method: string | null
}

type Named = Pick<TopicRules, 'channels'>

/** Returns the topic of the step, else that of the campaign if it has the channel. Null: none. */
export function topicOfSend(
  { kind, channel, topic }: Pick<SendStep, 'kind' | 'channel' | 'topic'>,
  { topic: ofCampaign }: Pick<Definition, 'topic'>,
  topics: ReadonlyMap<string, Named>,
): { key: string; channel: Channel } | null {
  const known = CHANNELS.find((one) => one === channel)
  const has = (key: string | undefined): key is string =>
    key !== undefined && known !== undefined && topics.get(key)?.channels.includes(known) === true
  if (kind !== 'marketing' || known === undefined) return null
  const key = [topic, ofCampaign].find(has)
  return key === undefined ? null : { key, channel: known }
}

/** For simulations: whether the contact gets the topic of a message. Null: it has none. */
export function findTopic(
  step: SendStep,
  definition: Pick<Definition, 'topic'>,
  { topics, choices }: { topics: ReadonlyMap<string, TopicRules>; choices: TopicChoices },
): { subscribed: boolean } | null {
  const found = topicOfSend(step, definition, topics)
  if (found === null) return null
  const choice = choices[topicChannel(found.key, found.channel)]
  return { subscribed: isChosen(choice, topics.get(found.key)?.defaultOn ?? false) }
}
