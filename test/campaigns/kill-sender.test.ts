// @long
/**
 * Senders that are killed while a mail server is processing their messages: no message is sent twice, and none is
 * forgotten.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { MAX_IN_FLIGHT } from '../../src/campaigns/engine/run-campaigns.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { openMailServer } from '../messages/channels/mail-server.ts'
import { atLoad, PATIENCE_MS } from '../support/at-load.ts'
import { type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { type Engine, openEngine, openShop, useMailServer } from './engine-lab.ts'

const KILLS = 3
/** More than the killed senders can have in flight. */
const CONTACTS = KILLS * MAX_IN_FLIGHT + 10

let stack: Stack
let pipeline: Pipeline
let engine: Engine
const children: ChildProcess[] = []
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await engine.close()
  await stack.close()
})

function startSender(): ChildProcess {
  const script = fileURLToPath(new URL('killed-sender.ts', import.meta.url))
  const leaseMs = Math.ceil(atLoad(3000))
  const child = spawn(process.execPath, [script, stack.databaseUrl, String(leaseMs)], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  children.push(child)
  return child
}

it('kill -9 while a server takes messages leaves those as unknown, and every other one is sent once', async () => {
  const { businessId } = await createBusiness(stack.sql)
  const shop = openShop(stack, engine, pipeline, businessId)
  const template = await shop.template()
  await shop.publish([{ id: 'a', type: 'send', channel: 'email', template }], { quietHours: null })
  const people = Array.from({ length: CONTACTS }, (_, n) => ({ email: `p${n}@x.io` }))
  const seen = (await pipeline.apply(...people.map((identity) => shop.live('seen', identity)))) as TrackAnswer[]
  for (const { contactId } of seen) await shop.optIn(contactId)
  await pipeline.apply(...people.map((identity) => shop.live('signup', identity, engine.clock.now)))
  const heard: string[] = []
  let isAnswering = false
  const server = await openMailServer({
    onData(stream, _, done) {
      let raw = ''
      stream.on('data', (chunk: Buffer) => (raw += chunk.toString()))
      stream.on('end', () => {
        heard.push(/^Message-ID: <([^@]+)@/im.exec(raw)?.[1] ?? '')
        if (isAnswering) done()
      })
    },
  })
  await useMailServer(stack, engine.deps, businessId, server.port)
  const soon = { timeout: PATIENCE_MS, interval: 5 }

  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = heard.length
    const sender = startSender()
    await vi.waitUntil(() => heard.length > before, soon)
    sender.kill('SIGKILL')
    await once(sender, 'exit')
  }
  expect(heard.length).toBeLessThanOrEqual(KILLS * MAX_IN_FLIGHT)
  const unconfirmed = new Set(heard)
  isAnswering = true
  const last = startSender()
  const unsettled = async () => (await shop.due()).length
  await vi.waitUntil(async () => (await unsettled()) === 0, soon)
  last.kill('SIGTERM')
  expect((await once(last, 'exit'))[0]).toBe(0)

  const messages = (await shop.messages()) as { id: string; state: string }[]
  expect(messages).toHaveLength(CONTACTS)
  expect(new Set(heard).size).toBe(heard.length)
  const idsOf = (state: string) => messages.flatMap((one) => (one.state === state ? [one.id] : []))
  expect(idsOf('sent').toSorted()).toEqual(heard.filter((id) => !unconfirmed.has(id)).toSorted())
  expect(idsOf('unknown')).toEqual(expect.arrayContaining([...unconfirmed]))
  expect(idsOf('sent').length + idsOf('unknown').length).toBe(CONTACTS)
  expect(await shop.enrolments()).toEqual(Array.from({ length: CONTACTS }, () => 'finished'))
  await server.close()
})
