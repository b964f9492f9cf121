/** Changes of senders that meet each other, and messages that have one already (topics-senders-sends, "Several senders"). */
import { beforeEach, describe, expect, it } from 'vitest'
import { claimDue } from '../../../src/campaigns/engine/claim/claim-due.ts'
import { settle } from '../../../src/campaigns/engine/settle/settle.ts'
import { findOptedOut } from '../../../src/messages/callbacks/find-opted-out.ts'
import { createSender, deleteSender, updateSender } from '../../../src/messages/channels/change-sender.ts'
import { loadSender } from '../../../src/messages/channels/channels.ts'
import { checkAndKeep } from '../../../src/messages/channels/keep-check.ts'
import { removeChannel, saveChannel } from '../../../src/messages/channels/save-channel.ts'
import { storeSender } from '../../../src/messages/channels/store-sender.ts'
import { ACTOR, type Engine, type Shop, openEngine, openShop } from '../../campaigns/engine-lab.ts'
import { LOOPBACK_GUARD, SECRETS_KEY } from '../../deliveries/delivery-lab.ts'
import { NOW, type Pipeline, openPipeline } from '../../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../../support/stack.ts'
import { useOpened } from '../../support/use-opened.ts'

const stack: Stack = useOpened(() => openStack())
let pipeline: Pipeline
let engine: Engine
let shop: Shop
beforeEach(async () => {
  const { businessId } = await createBusiness(stack.sql)
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack, undefined, SECRETS_KEY)
  shop = openShop(stack, engine, pipeline, businessId)
  return () => engine.close()
})

const deps = () => ({ sql: stack.sql, guard: LOOPBACK_GUARD, secretsKey: SECRETS_KEY, now: () => engine.clock.now })
const keyOf = (sender: string) => ({ businessId: shop.businessId, channel: 'email' as const, sender })
const smtp = (address: string) => ({ provider: 'smtp', host: '127.0.0.1', port: 9, from: { address } })
const add = (key: string, more: object) =>
  createSender(deps(), { businessId: shop.businessId, actor: ACTOR }, { key, channel: 'email', ...more })
const remove = (sender: string) => deleteSender(deps(), { ...keyOf(sender), actor: ACTOR })

it('tries a message that may have been handed over by the sender that it had, not by that of its connection', async () => {
  await add('base', smtp('base@shop.example'))
  await add('news', { via: 'base', from: { address: 'news@shop.example' } })
  const template = await shop.template()
  await shop.publish([{ id: 'a', type: 'send', channel: 'email', template, kind: 'transactional', sender: 'news' }])
  await pipeline.apply(shop.live('signup'))
  const [first] = (await claimDue(engine.deps, 64)).sends
  if (first === undefined) throw new Error('nothing was claimed')
  const outcome = { kind: 'temporary', reason: '503', contact: 'written' } as const
  await settle(engine.deps, first, { outcome, provider: 'resend', from: 'news@shop.example', rendered: null })
  engine.clock.now = NOW + 60_000
  const [second] = (await claimDue(engine.deps, 64)).sends
  expect(second?.sender).toMatchObject({ sender: 'news', connection: 'base' })
})

describe('a sender that was deleted', () => {
  it('does not come back by a change that had read it before', async () => {
    await add('news', smtp('news@shop.example'))
    const before = await loadSender(stack.sql, keyOf('news'))
    if (before === null) throw new Error('there is no sender')
    expect(await remove('news')).toEqual({ kind: 'deleted' })
    expect(await storeSender(stack.sql, keyOf('news'), before, before, NOW)).toBe(false)
    expect(await loadSender(stack.sql, keyOf('news'))).toBeNull()
    const change = { ...keyOf('news'), actor: ACTOR }
    expect(await updateSender(deps(), change, { perSecond: 1 })).toEqual({ kind: 'not_found' })
  })

  it('is created anew with a connection of its own, though it had none', async () => {
    await add('base', smtp('base@shop.example'))
    await add('news', { via: 'base', from: { address: 'news@shop.example' } })
    await remove('news')
    expect(await add('news', smtp('news@shop.example'))).toMatchObject({ kind: 'saved', sender: { via: null } })
  })
})

it('keeps the row of a reset sender whose connection others use, so that they log their messages, too', async () => {
  const channel = { businessId: shop.businessId, channel: 'email' as const, actor: ACTOR }
  const settings = { provider: 'smtp', host: '127.0.0.1', port: 9, sender: 'base@shop.example' }
  await saveChannel(deps(), channel, () => settings)
  await add('news', { via: 'default', from: { address: 'news@shop.example' } })
  expect(await removeChannel(deps(), channel)).toBe(true)
  expect(await loadSender(stack.sql, keyOf('news'))).toMatchObject({ provider: 'log', secret: null })
})

it.each(['not an id', '0198c5a0-9d10-7c42-9a51-3e8f7b6d2c15'])(
  'looks for the message of an opt-out by the key: %s',
  async (messageId) => {
    const fact = { kind: 'opt_out', messageId, providerMessageId: null, address: null, method: 'm', at: NOW } as const
    expect(await findOptedOut(stack.sql, keyOf('default'), fact, NOW)).toBeNull()
  },
)

it('has its records looked up again when it was saved during the look-up', async () => {
  await add('news', smtp('news@old.example'))
  const before = await loadSender(stack.sql, keyOf('news'))
  if (before === null) throw new Error('there is no sender')
  const change = { ...keyOf('news'), actor: ACTOR }
  let saving: Promise<unknown> | undefined
  const resolveTxt = async () => {
    await (saving ??= updateSender(deps(), change, { from: { address: 'news@new.example' } }))
    return []
  }
  await checkAndKeep({ ...deps(), resolveTxt }, shop.businessId, before)
  const rows = await stack.sql`
    select checked, check_wanted from senders where business_id = ${shop.businessId} and key = 'news'`
  expect(rows).toEqual([{ checked: null, check_wanted: true }])
})
