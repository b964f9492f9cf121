/** What uses a topic. */
import { CHANNELS, type Channel } from '../../rules/events/facts.ts'
import type { Topic } from '../../rules/topics/topic.ts'
import type { Queryable } from '../../stores/postgres.ts'

export interface NamingCampaign {
  campaignId: string
  name: string
  status: string
}

const MOST_NAMES = 100

/** Lists the campaigns whose present definition names the topic, without archived ones. */
export async function listNamingCampaigns(sql: Queryable, businessId: string, key: string): Promise<NamingCampaign[]> {
  return await sql<NamingCampaign[]>`
    select c.id as "campaignId", c.name, c.status
    from campaigns c join campaign_versions v
      on v.business_id = c.business_id and v.campaign_id = c.id and v.version = c.version
    where c.business_id = ${businessId} and c.status <> 'archived' and jsonb_path_match(v.definition, ${NAMES}::text::jsonpath, ${valuesOf(key)}::text::jsonb)
    order by c.created_at, c.id limit ${MOST_NAMES}`
}

/** The names of the segments whose rules name the topic. */
export async function listNamingSegments(sql: Queryable, businessId: string, key: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select s.name from segments s
    where s.business_id = ${businessId} and jsonb_path_match(s.rule::jsonb, ${NAMES}::text::jsonpath, ${valuesOf(key)}::text::jsonb)
    order by s.created_at, s.id limit 10`
  return rows.map(({ name }) => name)
}

/** A campaign, a message or a condition of a rule: an `update` may set a custom field that is called `topic`. */
const NAMES =
  'exists($.topic ? (@ == $key)) || exists($.** ? (@.type == "send" || @.attribute == "subscribed").topic ? (@ == $key))'
const valuesOf = (key: string): string => JSON.stringify({ key })

/** Returns whether a contact has ever chosen, or a message was ever claimed for the topic. */
export async function hasData(sql: Queryable, businessId: string, key: string): Promise<boolean> {
  const [row] = await sql<[{ has: boolean }]>`
    select exists (select from topic_choices t where t.business_id = ${businessId} and t.topic = ${key} collate "C")
      or exists (
        select from campaigns c
        where c.business_id = ${businessId} and exists (
          select from campaign_versions v
          where v.business_id = c.business_id and v.campaign_id = c.id
            and jsonb_path_match(v.definition, ${NAMES}::text::jsonpath, ${valuesOf(key)}::text::jsonb)
        ) and exists (
          select from messages m
          where m.business_id = c.business_id and m.campaign_id = c.id and m.checked -> 'topic' ->> 'key' = ${key}
        )
      ) as has`
  return row.has
}

/** How many contacts get the topic by each of its channels: they have opted in to the channel, and get the topic. */
export async function countSubscribers(
  sql: Queryable,
  businessId: string,
  { key, channels, default: byDefault }: Topic,
): Promise<Partial<Record<Channel, number>>> {
  const rows = await sql<{ channel: Channel; many: number }[]>`
    select s.channel, count(*)::int as many
    from subscriptions s left join topic_choices t on t.business_id = s.business_id and t.contact_id = s.contact_id
      and t.topic = ${key} collate "C" and t.channel = s.channel
    where s.business_id = ${businessId} and s.subscribed and coalesce(t.subscribed, ${byDefault === 'subscribed'})
    group by s.channel`
  const counts = new Map(rows.map(({ channel, many }) => [channel, many]))
  return Object.fromEntries(
    CHANNELS.filter((one) => channels.includes(one)).map((channel) => [channel, counts.get(channel) ?? 0]),
  )
}
