/** Web workers are killed at the worst moments: each hit is in ClickHouse exactly once, counted in stored rows. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Stack, openStack } from '../support/stack.ts'
import { type IngestLab, openIngestLab } from '../workers/ingest-lab.ts'
import { captureOf, countRows, hitOf, newBusiness, newVisitor, query } from './web-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

/**
 * Pause between hits. Several hits arrive during each insert, and a worker that starts slowly can catch up with its
 * backlog.
 */
const PAUSE_MS = 5

let stack: Stack
let lab: IngestLab
const children: ChildProcess[] = []
beforeAll(async () => {
  stack = await openStack({}, { ownClickHouse: true })
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await lab.close()
  await stack.close()
})

function startWorker(owner: string, dieAt: string, insert: number): ChildProcess {
  const { databaseUrl, redisUrl, clickhouseUrl } = stack
  const order = JSON.stringify({ databaseUrl, redisUrl, clickhouseUrl, owner, leaseMs: 300, dieAt, insert })
  const script = fileURLToPath(new URL('crashing-web-worker.ts', import.meta.url))
  const child = spawn(process.execPath, [script, order], { stdio: ['pipe', 'ignore', 'inherit'] })
  children.push(child)
  return child
}

it('kill -9 before and after the insert, and after the commit, neither loses nor doubles', async () => {
  const frontDoor = await lab.frontDoor()
  const business = newBusiness()
  const visitors = Array.from({ length: 20 }, newVisitor)
  const sent: string[] = []
  const submitted: Promise<{ kind: string }>[] = []
  const traffic = setInterval(() => {
    const id = `h${sent.length}`
    sent.push(id)
    const visitor = visitors[sent.length % visitors.length] ?? ''
    submitted.push(frontDoor.submit(captureOf(business, visitor, [hitOf({ id })]), { wait: false }))
  }, PAUSE_MS)
  for (const [round, dieAt] of ['after insert', 'before insert', 'after commit', 'after insert'].entries()) {
    const [, signal] = (await once(startWorker(`w${round}`, dieAt, 2 + round), 'exit')) as [unknown, string]
    expect(signal).toBe('SIGKILL')
  }
  const last = startWorker('last', 'never', 0)
  clearInterval(traffic)
  expect(new Set((await Promise.all(submitted)).map(({ kind }) => kind))).toEqual(new Set(['queued']))
  for (const partition of ['web-0', 'web-1']) {
    await vi.waitUntil(async () => (await lab.length(partition)) === 0, { timeout: PATIENCE_MS, interval: 20 })
    expect(await lab.backlog(partition)).toEqual({})
  }
  expect(await countRows(stack.clickhouse, business)).toBe(sent.length)
  const [row] = await query<{ hits: string }>(
    stack.clickhouse,
    'select uniqExact(hit_id) as hits from web_events where business_id = {business: UUID}',
    { business },
  )
  expect(Number(row?.hits)).toBe(sent.length)
  last.kill('SIGTERM')
  expect((await once(last, 'exit'))[0]).toBe(0)
})
