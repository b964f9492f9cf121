/** Reads the topics of the messages of a claim, with the choices of their contacts. */
import type { Channel } from '../../../rules/events/facts.ts'
import type { SendStep } from '../../../rules/campaigns/steps.ts'
import { type CheckedTopic, topicOfSend } from '../../../rules/topics/topic-of-send.ts'
import { isChosen } from '../../../rules/topics/topic.ts'
import { arrayLiteral } from '../../../stores/write-columns.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import type { VersionedRow } from './read-move-facts.ts'

/** Null: the message has no topic. */
export type FindTopic = (step: SendStep) => CheckedTopic | null

interface FoundTopic {
  enrolmentId: string
  key: string
  channels: Channel[]
  defaultOn: boolean
  choices: { channel: Channel; subscribed: boolean; at: number; method: string }[]
}

const NONE: FindTopic = () => null

/**
 * Call it after the contacts were locked, so that every choice that was answered is seen. Nothing is read for campaigns
 * without topics.
 */
export async function readTopicFacts(
  tx: Queryable,
  rows: readonly VersionedRow[],
): Promise<(row: VersionedRow) => FindTopic> {
  const named = rows.filter(({ of }) => of.topics.length > 0)
  if (named.length === 0) return () => NONE
  const found = await tx<FoundTopic[]>`
    select x.enrolment_id as "enrolmentId", t.key, t.channels, t.default_on as "defaultOn", (
        select coalesce(json_agg(json_build_object('channel', o.channel, 'subscribed', o.subscribed, 'at', o.recorded_at,
          'method', o.method)), '[]')
        from topic_choices o
        where o.business_id = x.business_id and o.contact_id = x.contact_id and o.topic = t.key
      ) as choices
    from unnest(
      ${arrayLiteral(named.map((row) => row.businessId))}::text::uuid[],
      ${arrayLiteral(named.map((row) => row.enrolmentId))}::text::uuid[],
      ${arrayLiteral(named.map((row) => row.contactId))}::text::uuid[],
      ${arrayLiteral(named.map(({ of }) => arrayLiteral(of.topics)))}::text::text[]
    ) as x (business_id, enrolment_id, contact_id, topics)
    join topics t on t.business_id = x.business_id and t.key = any (x.topics::text[] collate "C")`
  const byEnrolment = Map.groupBy(found, ({ enrolmentId }) => enrolmentId)
  return (row) => {
    const topics = new Map((byEnrolment.get(row.enrolmentId) ?? []).map((topic) => [topic.key, topic]))
    return (step) => check(topicOfSend(step, row.of.definition, topics), topics)
  }
}

function check(found: ReturnType<typeof topicOfSend>, topics: ReadonlyMap<string, FoundTopic>): CheckedTopic | null {
  const topic = found && topics.get(found.key)
  if (!topic) return null
  const choice = topic.choices.find(({ channel }) => channel === found?.channel)
  const { at = null, method = null } = choice ?? {}
  const subscribed = isChosen(choice, topic.defaultOn)
  return { key: topic.key, subscribed, from: choice ? 'choice' : 'default', at, method }
}
