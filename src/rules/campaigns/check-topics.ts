/** Finds the faults of topics for which publishing refuses a campaign. */
import { CHANNELS } from '../events/facts.ts'
import { type Fault, faultOf } from '../faults.ts'
import { topicFaults } from '../topics/topic-faults.ts'
import { topicOfSend } from '../topics/topic-of-send.ts'
import type { TopicRules } from '../topics/topic.ts'
import type { Definition } from './definition.ts'
import type { SendStep } from './steps.ts'

export interface PlacedSend {
  step: SendStep
  path: string
}

/** `topics`: of the business, with archived ones. */
export function checkTopics(
  { topic }: Pick<Definition, 'topic'>,
  sends: readonly PlacedSend[],
  topics: ReadonlyMap<string, TopicRules>,
): Fault[] {
  const ofCampaign = topic === undefined || topics.get(topic)?.isActive ? [] : [faultOf('topic', 'topic_of_business')]
  return [...ofCampaign, ...sends.flatMap((send) => checkSend({ topic }, send, topics))]
}

function checkSend(
  { topic: ofCampaign }: { topic: string | undefined },
  { step, path: at }: PlacedSend,
  topics: ReadonlyMap<string, TopicRules>,
): Fault[] {
  const path = `${at}.topic`
  const { topic, channel } = step
  if (topic !== undefined) {
    if (!topics.get(topic)?.isActive) return [faultOf(path, 'topic_of_business')]
    const known = CHANNELS.find((one) => one === channel)
    const isIn = known !== undefined && topicFaults(topics, [{ topic, channel: known }]).length === 0
    return isIn ? [] : [faultOf(path, 'topic_without', { channel })]
  }
  if (step.kind !== 'marketing') return []
  const definition = ofCampaign === undefined ? {} : { topic: ofCampaign }
  if (topicOfSend(step, definition, topics) !== null) return []
  const isNeeded = [...topics.values()].some(
    ({ isActive, channels }) => isActive && channels.some((one) => one === channel),
  )
  return isNeeded ? [faultOf(path, 'topic_needed', { channel })] : []
}
