/** What the driver does when its connections break. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { openCuttingProxy } from '../faults/cutting-proxy.ts'

it('answers again at once after all connections were cut under load', async () => {
  const proxy = await openCuttingProxy(inject('stores').databaseUrl)
  const sql = connectPostgres(proxy.url, { max: 20 })
  let slowestMs = 0
  let stopped = false
  const askOnAndOn = async (): Promise<void> => {
    while (!stopped) {
      const asked = Date.now()
      const failed = await sql`select 1`.then(
        () => false,
        () => true,
      )
      slowestMs = Math.max(slowestMs, Date.now() - asked)
      if (failed) await sleep(5)
    }
  }
  const asking = Array.from({ length: 40 }, askOnAndOn)
  for (let round = 0; round < 8; round += 1) {
    await sleep(400)
    proxy.cutAll()
  }
  await sleep(1000)
  stopped = true
  await Promise.all(asking)
  expect(slowestMs).toBeLessThan(2000)
  await sql.end({ timeout: 1 })
  await proxy.close()
})
