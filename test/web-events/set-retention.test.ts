import { expect, it } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { setWebEventRetention } from '../../src/web-events/set-retention.ts'
import { openStack } from '../support/stack.ts'
import { captureOf, hitOf, newBusiness, newVisitor, openWebWorker, query } from './web-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(() => openStack({}, { ownClickHouse: true }))

const DAY = 86_400_000

it('drops web events past their time, and keeps those within it', async () => {
  const worker = await openWebWorker({ ...stack, log: createLogger({ level: 'silent', name: 'test' }) })
  const business = newBusiness()
  const now = Date.now()
  const aged = (id: string, ms: number) => hitOf({ id, occurredAt: now - ms })
  await worker.apply(
    captureOf(business, newVisitor(), [aged('kept', 3 * DAY - 60_000), aged('dropped', 3 * DAY + 60_000)]),
  )
  const left = async () =>
    await query(stack.clickhouse, 'select hit_id from web_events where business_id = {business: UUID}', { business })
  await setWebEventRetention(stack.clickhouse, 400)
  await stack.clickhouse.command({ query: 'optimize table web_events final' })
  expect(await left()).toHaveLength(2)
  await setWebEventRetention(stack.clickhouse, 3)
  await setWebEventRetention(stack.clickhouse, 3)
  await expect.poll(left, { timeout: PATIENCE_MS }).toEqual([{ hit_id: 'kept' }])
})
