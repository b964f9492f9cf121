import { CHANNELS } from '../../rules/events/facts.ts'
import type { Topic } from '../../rules/topics/topic.ts'
import type { Queryable } from '../../stores/postgres.ts'

/** All topics of a business, in the order of the preference page. `status`: only those. */
export async function listTopics(sql: Queryable, businessId: string, status?: Topic['status']): Promise<Topic[]> {
  const rows = await sql<Topic[]>`
    select t.key, t.channels, case when t.default_on then 'subscribed' else 'unsubscribed' end as "default",
      case when t.is_public then 'public' else 'private' end as visibility, t.names, t.default_language as "defaultLanguage",
      t.position, t.confirmation_template as "confirmationTemplate",
      case when t.archived then 'archived' else 'active' end as status
    from topics t
    where t.business_id = ${businessId} and (${status ?? null}::text is null or t.archived = (${status ?? null} = 'archived'))
    order by t.position, t.key`
  return rows.map((topic) => ({ ...topic, channels: CHANNELS.filter((one) => topic.channels.includes(one)) }))
}

/** Null when there is none. */
export async function readTopic(sql: Queryable, businessId: string, key: string): Promise<Topic | null> {
  const topics = await listTopics(sql, businessId)
  return topics.find((topic) => topic.key === key) ?? null
}
