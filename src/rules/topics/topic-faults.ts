import type { TopicChoice } from '../item.ts'
import { type Fault, faultOf } from '../faults.ts'
import { show } from '../segments/reading/reading.ts'
import type { TopicRules } from './topic.ts'

/** Returns why choices cannot be recorded. A choice of an archived topic can. */
export function topicFaults(
  topics: ReadonlyMap<string, Pick<TopicRules, 'channels'>>,
  choices: readonly Omit<TopicChoice, 'subscribed'>[],
  path = 'topics',
): Fault[] {
  const faults = choices.flatMap(({ topic, channel }) => {
    const known = topics.get(topic)
    if (known === undefined) return [faultOf(`${path}.${show(topic)}`, 'topic_unknown')]
    return known.channels.includes(channel)
      ? []
      : [faultOf(`${path}.${topic}.${channel}`, 'topic_without', { channel })]
  })
  return faults.filter(({ path: at }, index) => faults.findIndex((one) => one.path === at) === index)
}
