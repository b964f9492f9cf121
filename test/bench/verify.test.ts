// @faults
/**
 * Tests the generator against the real service: the stores contain exactly the acknowledged events, and a difference of
 * one is noticed.
 */
import { expect, test } from 'vitest'
import { openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { prepareLoad } from './generator/run-load.ts'
import { type Traffic, eventsIn } from './generator/traffic.ts'
import { verifyCounts } from './verify.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({}, { ownClickHouse: true }))

const LOADS: { traffic: Traffic; requests: number }[] = [
  { traffic: { kind: 'typical', prefix: 'p-' }, requests: 200 },
  { traffic: { kind: 'batch', prefix: 'p-', size: 20 }, requests: 10 },
  { traffic: { kind: 'mesh', prefix: 'p-', people: 10 }, requests: 120 },
]

test.each(LOADS)('$traffic.kind', async ({ traffic, requests }) => {
  const businesses = await Promise.all([createBusiness(service.sql), createBusiness(service.sql)])
  const load = await prepareLoad({
    url: service.url,
    keys: businesses.map(({ secretKey }) => secretKey),
    traffic,
    first: 0,
    pace: { kind: 'closed' },
    connections: 10,
    seconds: 60,
    requests,
  })
  const { answers } = await load.run()
  expect(answers).toEqual({ 200: requests })
  await service.shipped()
  const ids = businesses.map(({ businessId }) => businessId)
  const events = requests * eventsIn(traffic)
  await verifyCounts(service, ids, events)
  await expect(verifyCounts(service, ids, events + 1)).rejects.toThrow(`Postgres counts ${events}`)
  // Both stores are checked, so that a correct one does not hide the fault of the other.
  await service.sql`
    update event_statistics set count = count + 1
    where (business_id, contact_id, event) = (
      select business_id, contact_id, event from event_statistics where business_id = ${ids[0] ?? ''} limit 1
    )`
  await expect(verifyCounts(service, ids, events)).rejects.toThrow(`Postgres counts ${events + 1}`)
  await expect(verifyCounts(service, ids, events + 1)).rejects.toThrow(`ClickHouse ${events}`)
})
