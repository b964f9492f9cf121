/** Workers are killed at the worst moments: each request is still applied exactly once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Stack, openStack } from '../support/stack.ts'
import { type IngestLab, businessOf, event, openIngestLab } from './ingest-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

/**
 * Pause between calls, in ms. Several calls arrive during each save, and a worker that starts slowly can catch up with
 * its backlog.
 */
const PAUSE_MS = 5

let stack: Stack
let lab: IngestLab
const children: ChildProcess[] = []
beforeAll(async () => {
  stack = await openStack()
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await lab.close()
  await stack.close()
})

function startWorker(owner: string, dieAt: string, save: number): ChildProcess {
  const { databaseUrl, redisUrl } = stack
  const order = JSON.stringify({ databaseUrl, redisUrl, owner, leaseMs: 300, dieAt, save })
  const script = fileURLToPath(new URL('crashing-worker.ts', import.meta.url))
  const child = spawn(process.execPath, [script, order], { stdio: ['pipe', 'ignore', 'inherit'] })
  children.push(child)
  return child
}

it('kill -9 before and after the commit neither skips nor repeats, without any idempotency key', async () => {
  const frontDoor = await lab.frontDoor({ answerTimeoutMs: 1000 })
  const businesses = { 'live-0': businessOf('live-0'), 'live-1': businessOf('live-1') }
  const sent = { 'live-0': [] as string[], 'live-1': [] as string[] }
  const kinds = new Set<string>()
  const submitted: Promise<unknown>[] = []
  const traffic = setInterval(() => {
    for (const partition of ['live-0', 'live-1'] as const) {
      const id = `${partition}-${sent[partition].length}`
      sent[partition].push(id)
      submitted.push(frontDoor.submit(event(id, businesses[partition])).then(({ kind }) => kinds.add(kind)))
    }
  }, PAUSE_MS)
  for (const [round, dieAt] of ['after commit', 'before commit', 'after commit'].entries()) {
    const [, signal] = (await once(startWorker(`w${round}`, dieAt, 4 + round), 'exit')) as [unknown, string]
    expect(signal).toBe('SIGKILL')
  }
  const last = startWorker('last', 'never', 0)
  // It first has a backlog of calls that no longer wait: on a busy machine, only new calls are answered.
  await vi.waitUntil(() => kinds.has('answered'), { timeout: PATIENCE_MS, interval: 10 })
  clearInterval(traffic)
  await Promise.all(submitted)
  expect([...kinds].toSorted()).toEqual(['answered', 'queued'])
  for (const partition of ['live-0', 'live-1'] as const) {
    await vi.waitUntil(async () => (await lab.length(partition)) === 0, { timeout: PATIENCE_MS, interval: 10 })
    expect(await lab.applied(partition)).toEqual(sent[partition])
    expect(await lab.backlog(partition)).toEqual({})
  }
  last.kill('SIGTERM')
  expect((await once(last, 'exit'))[0]).toBe(0)
})
