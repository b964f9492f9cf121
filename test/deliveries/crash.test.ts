/**
 * Senders that are killed in the middle of their work: nothing is lost, and a delivery that is sent twice carries the
 * same id.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { eventFact, openPipeline, track } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { addTo, readDeliveries } from './delivery-lab.ts'
import { OK, type Platform, openPlatform } from './platform.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

/** An attempt that takes longer has failed, which must not happen because the machine is busy. */
const ATTEMPT_MS = '2000'

let stack: Stack
let platform: Platform
const children: ChildProcess[] = []
beforeAll(async () => {
  stack = await openStack()
  platform = await openPlatform()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await platform.close()
  await stack.close()
})

function startSender(): ChildProcess {
  const script = fileURLToPath(new URL('crashing-sender.ts', import.meta.url))
  const child = spawn(process.execPath, [script, stack.databaseUrl, ATTEMPT_MS], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  children.push(child)
  return child
}

it('kill -9 while a platform handles a delivery, and after it accepted one, loses nothing and leaves nothing under way', async () => {
  const pipeline = await openPipeline(stack.sql)
  const { businessId } = await createBusiness(stack.sql)
  await addTo(stack.sql, businessId, 'webhook', { url: platform.url, settings: { all: true } })
  await pipeline.apply(
    ...Array.from({ length: 12 }, (_, n) =>
      track(businessId, eventFact('purchase', { email: 'a@x.io' }, { value: n })),
    ),
  )
  const soon = { timeout: PATIENCE_MS, interval: 5 }

  platform.reply = () => undefined
  const first = startSender()
  await vi.waitUntil(() => platform.heard.length > 0, soon)
  first.kill('SIGKILL')
  await once(first, 'exit')

  const before = platform.heard.length
  const second = startSender()
  platform.reply = (response, heard) => {
    OK(response, heard)
    if (platform.heard.length > before + 4) second.kill('SIGKILL')
  }
  await once(second, 'exit')

  platform.reply = OK
  const last = startSender()
  const sent = async () => (await readDeliveries(stack.sql, businessId)).filter(({ state }) => state === 'sent').length
  await vi.waitUntil(async () => (await sent()) === 12, soon)
  last.kill('SIGTERM')
  expect((await once(last, 'exit'))[0]).toBe(0)
  const ids = platform.heard.map(({ body }) => (JSON.parse(body) as { id: string }).id)
  expect(new Set(ids).size).toBe(12)
  const [{ claimed }] = await stack.sql<[{ claimed: number }]>`select count(claim)::int as claimed from deliveries`
  expect(claimed).toBe(0)
})
