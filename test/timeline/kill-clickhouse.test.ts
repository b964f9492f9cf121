// @long
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEngines } from '../../src/embedded/engines.ts'
import { migrate } from '../../src/migrate/migrate.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { sleep as abortableSleep } from '../../src/async/sleep.ts'
import { runTimeline } from '../../src/timeline/run-timeline.ts'
import { type Lab, addContact, newBusiness, openLab, query, save, waitingRows } from './lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
  await lab.lease.release()
})
afterAll(async () => {
  await lab?.close()
})

const KILLS = 4
const PROPERTIES = JSON.stringify({ text: 'x'.repeat(300) })

test('a ClickHouse that is killed repeatedly during inserts ends up exact', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-killed-'))
  await chmod(folder, 0o711)
  const engines = await startEngines(folder, { log: lab.log, only: ['clickhouseUrl'], small: true })
  const clickhouse = connectClickHouse(engines.clickhouseUrl ?? '')
  const stopping = new AbortController()
  const killed = new AbortController()
  try {
    await migrate(lab.sql, clickhouse, lab.log)
    const config = { leaseMs: 5000, outboxKeepMs: 86_400_000, anonymousKeepMs: 86_400_000 }
    const running = runTimeline({ sql: lab.sql, clickhouse, log: lab.log, config }, stopping.signal)
    const business = newBusiness()
    const contacts = [await addContact(lab, business), await addContact(lab, business)]
    let saved = 0
    const saving = (async () => {
      while (!killed.signal.aborted) {
        await save(
          lab,
          business,
          Array.from({ length: 200 }, (_, k) => ({
            contact_id: contacts[k % 2]!,
            event: `e${k % 5}`,
            properties: PROPERTIES,
          })),
        )
        saved += 200
        await abortableSleep(100, killed.signal)
      }
    })()
    for (let kill = 0; kill < KILLS; kill += 1) {
      await expect.poll(() => inserting(clickhouse), { timeout: PATIENCE_MS, interval: 1 }).toBe(true)
      // Kills at various instants, from the middle of the insert to the mark in the outbox.
      await sleep(kill * 12)
      process.kill(Number(await readFile(join(folder, 'clickhouse.pid'), 'utf8')), 'SIGKILL')
    }
    killed.abort()
    await saving
    await expect.poll(() => waitingRows(lab), { timeout: PATIENCE_MS, interval: 50 }).toBe(0)
    stopping.abort()
    await running
    expect(
      await query(
        { clickhouse },
        `select count() as events, uniqExact(event_id) as distinct,
          (select sum(count) from contact_event_statistics where business_id = {business: UUID}) as counted,
          (select count() from contact_event_statistics where business_id = {business: UUID}) as names
        from timeline where business_id = {business: UUID}`,
        { business },
      ),
    ).toEqual([{ events: saved, distinct: saved, counted: saved, names: 10 }])
  } finally {
    killed.abort()
    stopping.abort()
    await clickhouse.close()
    await engines.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

async function inserting(clickhouse: ClickHouseClient): Promise<boolean> {
  try {
    const [row] = await query<{ n: number }>(
      { clickhouse },
      "select count() as n from system.processes where query ilike 'insert into events%'",
    )
    return (row?.n ?? 0) > 0
  } catch {
    return false // ClickHouse is only just starting again.
  }
}
