// @long
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startEngines } from '../../src/embedded/engines.ts'
import { migrate } from '../../src/migrate/migrate.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { applyWebBatch } from '../../src/web-events/apply-web-batch.ts'
import { type Stack, openStack } from '../support/stack.ts'
import { type IngestLab, log, openIngestLab } from '../workers/ingest-lab.ts'
import { captureOf, countRows, hitOf, newBusiness, newVisitor, query } from './web-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let stack: Stack
let lab: IngestLab
beforeAll(async () => {
  stack = await openStack({}, { ownClickHouse: true })
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterAll(async () => {
  await lab.close()
  await stack.close()
})

const KILLS = 3

test('a ClickHouse that is killed in inserts of web events, again and again, has each hit once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-web-killed-'))
  await chmod(folder, 0o711)
  const engines = await startEngines(folder, { log, only: ['clickhouseUrl'], small: true })
  const clickhouse = connectClickHouse(engines.clickhouseUrl ?? '')
  try {
    await migrate(stack.sql, clickhouse, log)
    const deps = { sql: stack.sql, clickhouse, log }
    const worker = lab.worker('a', { apply: (...batch) => applyWebBatch(deps, ...batch), leaseMs: 60_000 })
    const frontDoor = await lab.frontDoor()
    const business = newBusiness()
    let sent = 0
    const traffic = setInterval(() => {
      const hits = Array.from({ length: 40 }, () => hitOf({ title: 'x'.repeat(200) }))
      sent += hits.length
      void frontDoor.submit(captureOf(business, newVisitor(), hits), { wait: false })
    })
    for (let kill = 0; kill < KILLS; kill += 1) {
      await expect.poll(() => inserting(clickhouse), { timeout: PATIENCE_MS, interval: 1 }).toBe(true)
      await sleep(kill * 12)
      process.kill(Number(await readFile(join(folder, 'clickhouse.pid'), 'utf8')), 'SIGKILL')
    }
    clearInterval(traffic)
    for (const partition of ['web-0', 'web-1'])
      await vi.waitUntil(async () => (await lab.length(partition)) === 0, { timeout: PATIENCE_MS, interval: 50 })
    await worker.stop()
    expect(await countRows(clickhouse, business)).toBe(sent)
    const distinct = 'select uniqExact(hit_id) as hits from web_hits where business_id = {business: UUID}'
    expect(await query(clickhouse, distinct, { business })).toEqual([{ hits: String(sent) }])
  } finally {
    await clickhouse.close()
    await engines.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

async function inserting(clickhouse: ClickHouseClient): Promise<boolean> {
  try {
    const running = "select count()::UInt32 as n from system.processes where query ilike 'insert into web_events%'"
    const [row] = await query<{ n: number }>(clickhouse, running)
    return (row?.n ?? 0) > 0
  } catch {
    return false // ClickHouse is only just starting again.
  }
}
