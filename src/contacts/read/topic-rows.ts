import { CHANNELS, type Channel, type Subscriptions } from '../../rules/events/facts.ts'
import { isChosen } from '../../rules/topics/topic.ts'

/** A topic of the business, with the choices of one contact. */
export interface TopicRow {
  key: string
  channels: Channel[]
  defaultOn: boolean
  choices: { channel: Channel; subscribed: boolean; method: string; at: number }[]
}

/** SQL over the business `b` and the contact `c`: its topics as TopicRow, without archived ones that it has not chosen. */
export const TOPICS = `case when b.has_topics then (
  select json_agg(json_build_object('key', t.key, 'channels', t.channels, 'defaultOn', t.default_on,
    'choices', coalesce(chosen.choices, '[]')) order by t.position, t.key)
  from topics t left join lateral (
    select json_agg(json_build_object('channel', o.channel, 'subscribed', o.subscribed, 'method', o.method,
      'at', o.recorded_at)) as choices
    from topic_choices o where o.business_id = t.business_id and o.contact_id = c.id and o.topic = t.key
  ) chosen on true
  where t.business_id = b.id and (not t.archived or chosen.choices is not null)
) end`

/** Returns whether the contact gets each topic, by key and channel, as far as the topics decide. */
export function showChosen(rows: readonly TopicRow[] | null): Record<string, Partial<Subscriptions>> {
  const chosen = ({ channels, defaultOn, choices }: TopicRow): Partial<Subscriptions> =>
    Object.fromEntries(
      CHANNELS.filter((one) => channels.includes(one)).map((channel) => [
        channel,
        isChosen(
          choices.find((one) => one.channel === channel),
          defaultOn,
        ),
      ]),
    )
  return Object.fromEntries((rows ?? []).map((row) => [row.key, chosen(row)]))
}
