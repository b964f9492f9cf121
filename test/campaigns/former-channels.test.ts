/** Processes of the version before go on beside this one: they know a channel, which is its sender `default`. */
import { beforeEach, expect, it } from 'vitest'
import { createSender } from '../../src/messages/channels/change-sender.ts'
import { loadChannel, loadSender } from '../../src/messages/channels/channels.ts'
import { LOOPBACK_GUARD, SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'
import { ACTOR } from './engine-lab.ts'

const stack = useOpened(() => openStack())
let businessId: string
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  const deps = { sql: stack.sql, guard: LOOPBACK_GUARD, secretsKey: SECRETS_KEY, now: () => 1 }
  const body = { key: 'other', channel: 'email', provider: 'log', perSecond: 9, dailyBudget: 9 }
  const { kind } = await createSender(deps, { businessId, actor: ACTOR }, body)
  if (kind !== 'saved') throw new Error(kind)
})
const other = () => loadSender(stack.sql, { businessId, channel: 'email', sender: 'other' })

it('their statements about settings and pauses change the sender `default` alone', async () => {
  const before = await other()
  const { sql } = stack
  await sql`
    insert into channels (business_id, channel, provider, settings, secret, secret_names, per_second, daily_budget, revision, opened_at,
      former, callback_source)
    values (${businessId}, 'email', 'log', '{}', null, '{}', 3, null, gen_random_uuid(), 1, null, null) on conflict do nothing`
  expect(await loadChannel(sql, { businessId, channel: 'email' })).toMatchObject({ key: 'default', perSecond: 3 })
  await sql.begin(async (tx) => {
    const rows = await tx`
      select c.channel from channels c where c.business_id = ${businessId} and c.paused_at is null
      order by c.business_id, c.channel for no key update of c`
    expect(rows).toHaveLength(1)
    await tx`update channels set paused_at = 5, pause_reason = 'why' where business_id = ${businessId} and channel = 'email'`
  })
  expect(await loadChannel(sql, { businessId, channel: 'email' })).toMatchObject({ pausedAt: 5 })
  expect((await sql`delete from channels where business_id = ${businessId} and channel = 'email'`).count).toBe(1)
  expect(await loadChannel(sql, { businessId, channel: 'email' })).toMatchObject({ revision: null, pausedAt: null })
  expect(await other()).toEqual(before)
})

it('their turns are counted with those of `default`', async () => {
  const { sql } = stack
  await sql`insert into sender_use (business_id, channel, sender, sent_in_day) values (${businessId}, 'email', 'other', 7)`
  for (let round = 0; round < 2; round += 1)
    await sql`
      insert into channel_use (business_id, channel)
      select x.business_id, x.channel from (select ${businessId}::uuid as business_id, 'email' as channel) x
      where not exists (select from channel_use u where u.business_id = x.business_id and u.channel = x.channel)
      order by 1, 2 on conflict do nothing`
  const locked = await sql.begin(
    (tx) =>
      tx`select u.sent_in_day from channel_use u where u.business_id = ${businessId} order by u.channel for update of u`,
  )
  expect(locked).toHaveLength(1)
  await sql`update channel_use u set sent_in_day = 2 where u.business_id = ${businessId} and u.channel = 'email'`
  const uses =
    await sql`select sender, sent_in_day::int as sent from sender_use where business_id = ${businessId} order by sender`
  expect(uses).toEqual([
    { sender: 'default', sent: 2 },
    { sender: 'other', sent: 7 },
  ])
  await sql`insert into channel_outcomes (business_id, channel, at, messages, refused) values (${businessId}, 'email', 1, 1, 0)`
  expect(await sql`select sender from channel_outcomes where business_id = ${businessId}`).toEqual([
    { sender: 'default' },
  ])
})
