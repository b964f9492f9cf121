/** Which sender a message takes, and what becomes of it while senders are paused or unreachable (topics-senders-sends, "Several senders"). */
import { once } from 'node:events'
import { type AddressInfo, type Server, createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSender, deleteSender, updateSender } from '../../src/messages/channels/change-sender.ts'
import { listSenders } from '../../src/messages/channels/channels.ts'
import { pauseSender, resumeSender } from '../../src/messages/channels/pause-channel.ts'
import { saveChannel } from '../../src/messages/channels/save-channel.ts'
import { updateTemplate } from '../../src/messages/templates/save-template.ts'
import { LOOPBACK_GUARD, SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { type MailServer, openMailServer } from '../messages/channels/mail-server.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'
import { ACTOR, ANN, type Engine, MINUTE, type Shop, openEngine, openShop } from './engine-lab.ts'

const stack: Stack = useOpened(() => openStack())
let pipeline: Pipeline
let engine: Engine
let shop: Shop
let template: string
const opened: { close(): unknown }[] = []
beforeEach(async () => {
  const { businessId } = await createBusiness(stack.sql)
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack, undefined, SECRETS_KEY)
  shop = openShop(stack, engine, pipeline, businessId)
  template = await shop.template()
})
afterEach(async () => {
  await engine.close()
  for (const one of opened.splice(0)) await one.close()
})

const deps = () => ({ sql: stack.sql, guard: LOOPBACK_GUARD, secretsKey: SECRETS_KEY, now: () => engine.clock.now })
const change = () => ({ businessId: shop.businessId, actor: ACTOR })
const keyOf = (sender: string) => ({ businessId: shop.businessId, channel: 'email' as const, sender })
const add = async (key: string, more: object = {}) => {
  const body = { key, channel: 'email', provider: 'log', ...more }
  const made = await createSender(deps(), change(), body)
  if (made.kind !== 'saved') throw new Error(JSON.stringify(made))
}
const patch = async (sender: string, body: Record<string, unknown>) => {
  const made = await updateSender(deps(), { ...keyOf(sender), actor: ACTOR }, body)
  if (made.kind !== 'saved') throw new Error(JSON.stringify(made))
}
const smtp = (port: number, address = 'hello@shop.example') => ({
  provider: 'smtp',
  host: '127.0.0.1',
  port,
  from: { address },
})
const mailServer = async (): Promise<MailServer> => {
  const server = await openMailServer()
  opened.push(server)
  return server
}
/** Accepts connections and says nothing, as a server that hangs. */
const hangingServer = async (): Promise<number> => {
  const server: Server = createServer(() => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.push({ close: () => server.close() })
  return (server.address() as AddressInfo).port
}
/** A port at which nobody listens. */
const refusingPort = async (): Promise<number> => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
const send = (id: string, more: object = {}) => ({
  id,
  type: 'send',
  channel: 'email',
  template,
  kind: 'transactional',
  ...more,
})
const signUp = async (many = 1, from = 0) => {
  const people = Array.from({ length: many }, (_, at) => ({ email: `p${from + at}@x.io` }))
  await pipeline.apply(...people.map((one) => shop.live('signup', one)))
}
const taken = async () =>
  (await shop.messages()).map(({ step, state, sender, connection, sent_from: from }) =>
    [
      step,
      state,
      sender ?? 'default',
      ...(connection === sender ? [] : [connection ?? 'default']),
      ...(from === null ? [] : [from]),
    ].join(' '),
  )
const statusOf = async (key: string) => {
  const found = (await listSenders(stack.sql, shop.businessId)).find(
    (one) => one.key === key && one.channel === 'email',
  )
  return found?.pausedAt !== null ? 'paused' : found.unreachableAt !== null ? 'unreachable' : 'active'
}

describe('the sender', () => {
  it('is the nearest to the message: of the step, the campaign, the template, and the default', async () => {
    for (const key of ['of_step', 'of_campaign', 'of_template', 'moved']) await add(key)
    const steps = [send('a', { sender: 'of_step' }), send('b')]
    await shop.publish(steps, { senders: { email: 'of_campaign' } })
    await shop.publish([send('c')])
    await signUp()
    await engine.drain()
    expect((await taken()).toSorted()).toEqual(['a sent of_step', 'b sent of_campaign', 'c sent default'])
    await updateTemplate(engine.deps, change(), template, { sender: 'of_template' })
    await signUp(1, 1)
    await engine.drain(NOW + 1)
    expect((await taken()).slice(3).toSorted()).toEqual(['a sent of_step', 'b sent of_campaign', 'c sent of_template'])
    await updateTemplate(engine.deps, change(), template, { sender: null })
    await patch('moved', { isDefault: true })
    await signUp(1, 2)
    await engine.drain(NOW + 2)
    expect((await taken()).slice(6).toSorted()).toEqual(['a sent of_step', 'b sent of_campaign', 'c sent moved'])
  })

  it('is chosen anew in each claim, with its own address', async () => {
    const [first, second] = [await mailServer(), await mailServer()]
    await add('first', smtp(await refusingPort(), 'first@shop.example'))
    await add('second', smtp(second.port, 'second@shop.example'))
    await updateTemplate(engine.deps, change(), template, { sender: 'first' })
    await shop.publish([send('a')])
    await signUp()
    await engine.drain()
    expect(await taken()).toEqual(['a claimed first first@shop.example'])
    await updateTemplate(engine.deps, change(), template, { sender: 'second' })
    await engine.drain(NOW + MINUTE)
    expect(await taken()).toEqual(['a sent second second@shop.example'])
    expect([first.heard.length, second.heard.map(({ from }) => from)]).toEqual([0, ['second@shop.example']])
    expect(await shop.messages()).toMatchObject([{ retried: true }])
  })

  it('with the connection of another one takes that one’s limits, and its own address', async () => {
    const server = await mailServer()
    await add('base', { ...smtp(server.port), perSecond: 1 })
    await add('news', { provider: undefined, via: 'base', from: { address: 'news@shop.example' } })
    await shop.publish([send('a', { sender: 'news' })])
    await shop.publish([send('b', { sender: 'base' })])
    await signUp()
    await engine.drain()
    expect(server.heard).toHaveLength(1)
    await engine.drain(NOW + 2000)
    expect(server.heard.map(({ from }) => from).toSorted()).toEqual(['hello@shop.example', 'news@shop.example'])
  })
})

describe('the limits of a sender', () => {
  it('are its own, and a reserve is left to transactional messages, rounded up', async () => {
    await add('small', { dailyBudget: 5, reserve: 21 })
    const people = [{ sender: 'small', kind: 'marketing' }, { sender: 'small' }, {}].map((more, at) =>
      send(`s${at}`, more),
    )
    for (const step of people) await shop.publish([step], { quietHours: null })
    await signUp(6)
    for (const {
      contact_id: id,
    } of await stack.sql`select id as contact_id from contacts where business_id = ${shop.businessId}`)
      await pipeline.apply(await shop.optIn(String(id)).then(() => shop.live('nothing', { email: 'nobody@x.io' })))
    await engine.drain()
    const states = await taken()
    const of = (step: string) => states.filter((one) => one.startsWith(`${step} sent`)).length
    expect(of('s2')).toBe(6)
    expect(of('s0') + of('s1')).toBe(5)
    // 21 % of 5 are two.
    expect(of('s0')).toBeLessThanOrEqual(3)
    expect(await shop.due()).toHaveLength(18 - 11)
  })
})

describe('while a sender is paused', () => {
  it('its messages take its fallback; those without one wait, and go on at the resume', async () => {
    await add('spare')
    await add('main', { fallback: 'spare' })
    await add('alone')
    await shop.publish([send('a', { sender: 'main' })])
    await shop.publish([send('b', { sender: 'alone' })])
    for (const key of ['main', 'alone']) await pauseSender(stack.sql, { ...keyOf(key), actor: ACTOR }, NOW)
    await signUp()
    await engine.drain()
    expect(await taken()).toEqual(['a sent spare'])
    await resumeSender(stack.sql, { ...keyOf('alone'), actor: ACTOR }, NOW + 1)
    await engine.drain(NOW + 1)
    expect(await taken()).toEqual(['a sent spare', 'b sent alone'])
  })

  it('its fallback may be paused as well: the first one that is resumed takes the messages', async () => {
    for (const first of ['main', 'spare']) {
      const sender = `${first}_of`
      await add(`${sender}_spare`)
      await add(sender, { fallback: `${sender}_spare` })
      for (const key of [sender, `${sender}_spare`]) await pauseSender(stack.sql, { ...keyOf(key), actor: ACTOR }, NOW)
      await shop.publish([send(first, { sender })])
    }
    await signUp()
    await engine.drain()
    expect(await taken()).toEqual([])
    for (const key of ['main_of', 'spare_of_spare'])
      await resumeSender(stack.sql, { ...keyOf(key), actor: ACTOR }, NOW + 1)
    await engine.drain(NOW + 1)
    expect((await taken()).toSorted()).toEqual(['main sent main_of', 'spare sent spare_of_spare'])
  })

  it('is not given up for the fallback of its fallback, nor while a limit holds its messages', async () => {
    await add('third')
    await add('second', { fallback: 'third' })
    await add('main', { fallback: 'second' })
    await add('limited', { fallback: 'third', dailyBudget: 1 })
    for (const key of ['main', 'second']) await pauseSender(stack.sql, { ...keyOf(key), actor: ACTOR }, NOW)
    await shop.publish([send('a', { sender: 'main' })])
    await shop.publish([send('b', { sender: 'limited' })])
    await signUp(2)
    await engine.drain()
    expect(await taken()).toEqual(['b sent limited'])
    expect(await shop.due()).toHaveLength(3)
  })

  it('with too many refusals, the other one goes on', async () => {
    const refusing = await openMailServer({
      onMailFrom: (_, __, done) => done(Object.assign(new Error('5.7.1 no'), { responseCode: 550 })),
    })
    opened.push(refusing)
    const good = await mailServer()
    await add('bad', smtp(refusing.port))
    await add('good', smtp(good.port))
    await shop.publish([send('a', { sender: 'bad' })])
    await shop.publish([send('b', { sender: 'good' })])
    await signUp(20)
    await engine.drain(NOW + 10)
    expect([await statusOf('bad'), await statusOf('good'), good.heard.length]).toEqual(['paused', 'active', 20])
  })
})

describe('an unreachable sender', () => {
  it('is one to which no connection came about in three tries, and a try that gets through ends it', async () => {
    const port = await refusingPort()
    const spare = await mailServer()
    await add('spare', smtp(spare.port, 'spare@shop.example'))
    await add('main', { ...smtp(port), fallback: 'spare' })
    await shop.publish([send('a', { sender: 'main' })], { canEnterAgain: true })
    await signUp(2)
    await engine.drain(NOW + 10)
    expect(await statusOf('main')).toBe('active')
    await signUp(1, 2)
    await engine.drain(NOW + 20)
    expect(await statusOf('main')).toBe('unreachable')
    // What was surely not taken goes by the fallback at its next claim; one message a minute tries first.
    await engine.drain(NOW + 50_000)
    expect(spare.heard).toHaveLength(3)
    await signUp(5, 10)
    await engine.drain(NOW + 70_000)
    expect(spare.heard).toHaveLength(7)
    expect((await taken()).filter((one) => one.includes('claimed'))).toEqual(['a claimed main hello@shop.example'])
    const again = await openMailServer()
    opened.push(again)
    await stack.sql`update senders set settings = settings || ${JSON.stringify({ port: again.port })}::text::jsonb, revision = gen_random_uuid()
      where business_id = ${shop.businessId} and key = 'main'`
    await signUp(3, 20)
    await engine.drain(NOW + 131_000)
    expect([again.heard.length >= 1, await statusOf('main')]).toEqual([true, 'active'])
    await signUp(2, 30)
    await engine.drain(NOW + 132_000)
    const all = [...spare.heard, ...again.heard].flatMap(({ to }) => to)
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted())
    expect(all).toHaveLength(13)
    const audited = await stack.sql<{ action: string }[]>`
      select action from audit_log where business_id = ${shop.businessId} and action like 'sender.%reachable' order by id`
    expect(audited.map(({ action }) => action)).toEqual(['sender.unreachable', 'sender.reachable'])
  })

  it('may hang: nothing that was not greeted counts as reached', async () => {
    engine.deps.attemptMs = 20_000
    await add('main', smtp(await hangingServer()))
    await shop.publish([send('a', { sender: 'main' })])
    await signUp(3)
    engine.clock.now = NOW + 10
    const claimed = await engine.claim()
    const { sendMessage } = await import('../../src/campaigns/engine/send/send-message.ts')
    const { settle } = await import('../../src/campaigns/engine/settle/settle.ts')
    for (const one of claimed)
      await settle(engine.deps, one, await sendMessage(engine.deps, one, AbortSignal.timeout(300)))
    expect(await statusOf('main')).toBe('unreachable')
    // Without a fallback it is tried as ever.
    await engine.drain(NOW + 11)
    expect((await taken()).every((one) => one.startsWith('a claimed main'))).toBe(true)
  })

  it('is not one that was reached within five minutes', async () => {
    const server = await openMailServer()
    await add('main', smtp(server.port))
    await shop.publish([send('a', { sender: 'main' })])
    await signUp()
    await engine.drain(NOW + 10)
    await server.close()
    await signUp(4, 1)
    await engine.drain(NOW + 300_010)
    expect(await statusOf('main')).toBe('active')
    await engine.drain(NOW + 300_010 + 30_000)
    expect(await statusOf('main')).toBe('unreachable')
  })
})

describe('what may have been handed over', () => {
  it('is never sent by another sender, and keeps its sender from being deleted', async () => {
    const spare = await mailServer()
    let asked = 0
    const provider = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch() {
        asked += 1
        return asked === 1 ? new Response('{}', { status: 503 }) : Response.json({ id: `r${asked}` })
      },
    })
    opened.push({ close: () => provider.stop(true) })
    await add('spare', smtp(spare.port))
    const baseUrl = `http://127.0.0.1:${provider.port}`
    const secrets = { apiKey: 're_key', webhookSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }
    await add('main', {
      provider: 'resend',
      baseUrl,
      from: { address: 'hello@shop.example' },
      ...secrets,
      fallback: 'spare',
    })
    await updateTemplate(engine.deps, change(), template, { sender: 'main' })
    await shop.publish([send('a')])
    await signUp()
    await engine.drain()
    expect(asked).toBe(1)
    // Nobody names it any longer, and it is paused.
    await updateTemplate(engine.deps, change(), template, { sender: 'spare' })
    await pauseSender(stack.sql, { ...keyOf('main'), actor: ACTOR }, NOW + 1)
    expect(await deleteSender(deps(), { ...keyOf('main'), actor: ACTOR })).toEqual({
      kind: 'in_use',
      names: ['a message in hand'],
    })
    await engine.drain(NOW + MINUTE)
    expect([asked, spare.heard.length, await taken()]).toEqual([1, 0, ['a claimed main hello@shop.example']])
    await resumeSender(stack.sql, { ...keyOf('main'), actor: ACTOR }, NOW + MINUTE)
    await engine.drain(NOW + MINUTE)
    expect([asked, spare.heard.length, await taken()]).toEqual([2, 0, ['a sent main hello@shop.example']])
    expect(await deleteSender(deps(), { ...keyOf('main'), actor: ACTOR })).toEqual({ kind: 'deleted' })
  })
})

it('a business with the sender `default` alone reads no templates in a claim', async () => {
  await saveChannel(deps(), { businessId: shop.businessId, channel: 'email', actor: ACTOR }, () => ({
    provider: 'log',
    perSecond: 50,
  }))
  await shop.publish([send('a')])
  await pipeline.apply(shop.live('signup', ANN))
  await stack.sql`alter table templates rename to hidden_templates`
  try {
    expect(await engine.claim()).toHaveLength(1)
  } finally {
    await stack.sql`alter table hidden_templates rename to templates`
  }
})
