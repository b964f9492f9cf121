// @long
/**
 * Senders behave the same on every runtime. Each runtime has its own fetch, timeouts and treatment of broken answers.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { addTo, addVisitor, readDeliveries } from '../deliveries/delivery-lab.ts'
import { type Platform, OK, openPlatform } from '../deliveries/platform.ts'
import { type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'

const SENDER = fileURLToPath(new URL('../deliveries/crashing-sender.ts', import.meta.url))
let stack: Stack
let pipeline: Pipeline
let platform: Platform
const children: ChildProcess[] = []
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  platform = await openPlatform((response, heard) => {
    if (heard.path.startsWith('/moved')) response.writeHead(307, { location: `${platform.url}/good/hook` }).end()
    else if (/^\/(half|taken)/.test(heard.path)) response.writeHead(200, { 'content-length': '100' }).write('{')
    else if (heard.path.startsWith('/good')) OK(response, heard)
    // Otherwise it hangs.
  })
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await platform.close()
  await stack.close()
})

it.each(Object.keys(RUNTIMES))('on %s', async (runtime) => {
  const { businessId } = await createBusiness(stack.sql)
  const buy = () =>
    pipeline.track(track(businessId, eventFact('purchase', { email: 'a@x.io' }, { value: 5, occurredAt: Date.now() })))
  const { contactId } = await buy()
  await addVisitor(stack.sql, businessId, contactId, { latest: { at: Date.now() - 5000, clickIds: { fbclid: 'F' } } })
  const ids = new Map<string, string>()
  for (const place of ['good', 'moved', 'half', 'taken', 'silent']) {
    const kind = place === 'half' ? 'meta' : 'webhook'
    ids.set(await addTo(stack.sql, businessId, kind, { url: `${platform.url}/${place}` }), place)
  }
  await buy()
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  const attemptMs = String(Math.ceil(atLoad(500)))
  const child = spawn(command, [...args, SENDER, stack.databaseUrl, attemptMs], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  children.push(child)
  const outcomes = async () => {
    const rows = await readDeliveries(stack.sql, businessId)
    return Object.fromEntries(
      rows.map((row) => [String(ids.get(row.destination_id)), `${row.state} ${row.last_error ?? ''}`] as const),
    )
  }
  await vi.waitUntil(async () => Object.values(await outcomes()).every((outcome) => outcome !== 'queued '), {
    timeout: PATIENCE_MS,
  })
  expect(await outcomes()).toEqual({
    good: 'sent ',
    moved: 'dead HTTP 307: redirects are not followed',
    half: 'queued no answer in time',
    taken: 'sent ',
    silent: 'queued no answer in time',
  })
  child.kill('SIGTERM')
  expect((await once(child, 'exit'))[0]).toBe(0)
})
