import type { Queryable } from '../../stores/postgres.ts'
import { DEFAULT_SENDER, type SenderKey } from './channels.ts'

/** Returns what keeps a sender from being deleted: what names it, and messages that are in hand. */
export async function findUses(tx: Queryable, key: SenderKey): Promise<string[]> {
  const { businessId, channel, sender } = key
  const names = JSON.stringify({ channel, sender })
  const campaigns = await tx<{ name: string }[]>`
    select c.name from campaigns c
    where c.business_id = ${businessId} and c.status <> 'archived' and exists (
      select from campaign_versions v
      where v.business_id = c.business_id and v.campaign_id = c.id and (
        v.definition->'senders'->>${channel} = ${sender}
        or jsonb_path_exists(v.definition, '$.steps.** ? (@.channel == $channel && @.sender == $sender)', ${names}::text::jsonb)
      )
    )
    order by c.created_at, c.id limit 10`
  const templates = await tx<{ name: string }[]>`
    select name from templates where business_id = ${businessId} and channel = ${channel} and sender = ${sender}
    order by id limit 10`
  const senders = await tx<{ key: string }[]>`
    select key from senders
    where business_id = ${businessId} and channel = ${channel} and deleted_at is null and (via = ${sender} or fallback = ${sender})
    order by key limit 10`
  return [
    ...campaigns.map(({ name }) => `the campaign "${name}"`),
    ...templates.map(({ name }) => `the template "${name}"`),
    ...senders.map((one) => `the sender ${one.key}`),
    ...((await hasInHand(tx, key)) ? ['a message in hand'] : []),
  ]
}

/** Whether a message is being sent, or waits to be tried again. */
async function hasInHand(tx: Queryable, { businessId, channel, sender }: SenderKey): Promise<boolean> {
  const [called] = await tx`
    select from due_calls d join messages m on m.business_id = d.business_id and m.id = d.message_id
    where d.business_id = ${businessId} and m.channel = ${channel} and (
      d.options->>'sender' = ${sender}
      or (m.state = 'claimed' and ${sender} in (coalesce(m.sender, ${DEFAULT_SENDER}), coalesce(m.connection, ${DEFAULT_SENDER})))
    )
    limit 1`
  if (called !== undefined) return true
  const [found] = await tx`
    select from due_steps d join messages m on m.business_id = d.business_id and m.id = d.message_id
    where d.business_id = ${businessId} and d.message_id is not null and m.state = 'claimed' and m.channel = ${channel}
      and ${sender} in (coalesce(m.sender, ${DEFAULT_SENDER}), coalesce(m.connection, ${DEFAULT_SENDER}))
    limit 1`
  return found !== undefined
}
