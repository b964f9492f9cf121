/** The topics of a contact: what it gets, and what it has chosen. */
import { CHANNELS, type Channel } from '../../rules/events/facts.ts'
import { isChosen } from '../../rules/topics/topic.ts'
import type { Sql } from '../../stores/postgres.ts'
import { isoTime } from './read-contact.ts'
import { TOPICS, type TopicRow } from './topic-rows.ts'

export interface TopicState {
  /** The choice, or else the default of the topic. The channel may be closed nevertheless. */
  subscribed: boolean
  choice: boolean | null
  /** ISO 8601 UTC. */
  at: string | null
  method: string | null
}

/** By key and channel. */
export type ContactTopics = Record<string, Partial<Record<Channel, TopicState>>>

/** Null when the contact is unknown, erased, or belongs to another business. A merged id resolves to its survivor. */
export async function readTopics(
  sql: Sql,
  { businessId, contactId }: { businessId: string; contactId: string },
): Promise<{ contactId: string; topics: ContactTopics } | null> {
  const [row] = await sql<{ contactId: string; topics: TopicRow[] | null }[]>`
    select c.id as "contactId", ${sql.unsafe(TOPICS)} as topics
    from contacts c join businesses b on b.id = c.business_id
    where c.business_id = ${businessId} and c.id = (
      select coalesce(merged_into, id) from contacts where business_id = ${businessId} and id = ${contactId}
    )`
  return row === undefined ? null : { contactId: row.contactId, topics: showTopics(row.topics) }
}

function showTopics(rows: readonly TopicRow[] | null): ContactTopics {
  return Object.fromEntries((rows ?? []).map((row) => [row.key, showTopic(row)]))
}

function showTopic({ channels, defaultOn, choices }: TopicRow): ContactTopics[string] {
  const shown = CHANNELS.filter((one) => channels.includes(one)).map((channel): [Channel, TopicState] => {
    const choice = choices.find((one) => one.channel === channel)
    return [
      channel,
      {
        subscribed: isChosen(choice, defaultOn),
        choice: choice?.subscribed ?? null,
        at: choice ? isoTime(choice.at) : null,
        method: choice?.method ?? null,
      },
    ]
  })
  return Object.fromEntries(shown)
}

export interface TopicChoiceEntry {
  topic: string
  channel: Channel
  subscribed: boolean
  at: string
  method: string
}

interface HistoryRow extends Omit<TopicChoiceEntry, 'at'> {
  id: number
  at: number
}

const CURSOR = /^(-?\d{1,16})-(\d{1,18})$/

/** All choices, newest first. Null for a cursor that is none. */
export async function readTopicHistory(
  sql: Sql,
  { businessId, contactId }: { businessId: string; contactId: string },
  { limit, cursor }: { limit: number; cursor: string | null },
): Promise<{ history: TopicChoiceEntry[]; nextCursor: string | null } | null> {
  const [, at = null, id = null] = (cursor === null ? null : CURSOR.exec(cursor)) ?? []
  if (cursor !== null && at === null) return null
  const rows = await sql<HistoryRow[]>`
    select id, topic, channel, subscribed, recorded_at as at, method from topic_history
    where business_id = ${businessId} and contact_id = ${contactId}
      and (${at}::bigint is null or (recorded_at, id) < (${at}::bigint, ${id}::bigint))
    order by recorded_at desc, id desc limit ${limit + 1}`
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    history: rows.slice(0, limit).map(({ id: _, at: recordedAt, ...one }) => ({ ...one, at: isoTime(recordedAt) })),
    nextCursor: last === undefined ? null : `${last.at}-${last.id}`,
  }
}
