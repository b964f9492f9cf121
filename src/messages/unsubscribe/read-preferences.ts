/** Data of a person's preference page: the choices for each channel, and which of them the page may undo. */
import { CHANNELS, type Channel } from '../../rules/events/facts.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { OneClick } from '../../rules/topics/topic.ts'
import type { PageTopic } from './page-topics.ts'
import type { Subscriber } from './token.ts'

/**
 * The method of choices on the page: it is in the history of consent, and the page recognises its own choices by it.
 */
export const PAGE_METHOD = 'Sluice unsubscribe page'
/** The unsubscribe button of a mail program (RFC 8058). */
export const ONE_CLICK_METHOD = 'Sluice one-click unsubscribe'
const OWN_METHODS = [PAGE_METHOD, ONE_CLICK_METHOD]

/**
 * Choices that the page records for one channel. After this many, an opt-out on the page is final, so that nobody can
 * fill the history.
 */
export const MAX_OWN_CHOICES = 100

export interface ChannelChoice {
  subscribed: boolean
  /** Epoch milliseconds. */
  at: number
  /** True when the page itself has ended it, and nobody else: the page may resume it. */
  mayResume: boolean
}

export interface Preferences {
  business: { name: string; active: boolean }
  /** The survivor; null once the person is erased. */
  contactId: string | null
  language: string | null
  /** Channels without any choice are absent. */
  choices: Partial<Record<Channel, ChannelChoice>>
  /** In the order of the page, with archived ones. */
  topics: PageTopic[]
  /** What a form without a choice ends in a message of a topic. */
  oneClick: OneClick
}

interface Row {
  name: string
  active: boolean
  contactId: string | null
  language: string | null
  choices: ({ channel: Channel } & ChannelChoice)[]
  topics: PageTopic[] | null
  oneClick: OneClick
}

/**
 * Returns null when the business no longer exists. A choice may be undone when the page made it, there was an opt-in
 * before, and nobody but the page has ended it since. The choices of merged contacts have no common order: after a
 * merge, no other opt-out may be known at all.
 */
export async function readPreferences(
  sql: Sql,
  { businessId, contactId }: Pick<Subscriber, 'businessId' | 'contactId'>,
): Promise<Preferences | null> {
  const own = sql`any (${arrayLiteral(OWN_METHODS)}::text::text[])`
  const [row] = await sql<Row[]>`
    with contact as materialized (
      select coalesce(c.merged_into, c.id) as id from contacts c
      where c.business_id = ${businessId} and c.id = ${contactId}
    ), history as materialized (
      select h.channel, h.id, h.subscribed, h.method = ${own} as is_own
      from contact join consent_history h on h.business_id = ${businessId} and h.contact_id = contact.id
    ), merged as materialized (
      select exists (
        select from contact join contacts m on m.business_id = ${businessId} and m.merged_into = contact.id
      ) as yes
    )
    select b.name, b.active, c.id as "contactId", c.language, coalesce((
      select json_agg(json_build_object('channel', s.channel, 'subscribed', s.subscribed, 'at', s.recorded_at, 'mayResume',
        not s.subscribed and s.method = ${own}
        and exists (select from history h where h.channel = s.channel and h.subscribed)
        and not exists (
          select from history h where h.channel = s.channel and not h.subscribed and not h.is_own
            and ((select yes from merged) or h.id > (
              select max(o.id) from history o where o.channel = s.channel and o.subscribed
            ))
        )
        and (select count(*) from history h where h.channel = s.channel and h.is_own) < ${MAX_OWN_CHOICES}
      ))
      from subscriptions s where s.business_id = ${businessId} and s.contact_id = c.id
    ), '[]') as choices, b.one_click as "oneClick", case when b.has_topics then (
      select json_agg(json_build_object('key', t.key, 'channels', t.channels, 'defaultOn', t.default_on, 'isPublic', t.is_public,
        'isActive', not t.archived, 'names', t.names, 'defaultLanguage', t.default_language,
        'choices', coalesce((
          select json_agg(json_build_object('channel', o.channel, 'subscribed', o.subscribed))
          from topic_choices o where o.business_id = b.id and o.contact_id = c.id and o.topic = t.key
        ), '[]'),
        'usedUp', array(
          select h.channel from topic_history h
          where h.business_id = b.id and h.contact_id = c.id and h.topic = t.key and h.method = ${own}
          group by h.channel having count(*) >= ${MAX_OWN_CHOICES}
        )) order by t.position, t.key)
      from topics t where t.business_id = b.id
    ) end as topics
    from businesses b
    left join contacts c on c.business_id = b.id and c.id = (select id from contact)
    where b.id = ${businessId} and b.removed_at is null`
  if (row === undefined) return null
  const { name, active, choices, topics, ...person } = row
  const known = CHANNELS.flatMap((channel) => {
    const choice = choices.find((one) => one.channel === channel)
    return choice ? [[channel, { subscribed: choice.subscribed, at: choice.at, mayResume: choice.mayResume }]] : []
  })
  return {
    ...person,
    business: { name, active },
    choices: Object.fromEntries(known) as Preferences['choices'],
    topics: topics ?? [],
  }
}
