// @long
/**
 * While events arrive, people are merged and some are erased, nothing counts as a difference by mistake. A real
 * difference is found and repaired.
 */
import { expect, test } from 'vitest'
import { speakTo } from '../front-door/http-client.ts'
import { openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { verifyStack } from './verify-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({}, { ownClickHouse: true }))

interface Storm {
  businessId: string
  /** Returns the number of answered requests so far. */
  answered(): number
  stop(): Promise<void>
}

const PEOPLE = 60
const WORKERS = 6

/** Sends live events, batches, identify calls that merge people, and erasures in parallel, until it is stopped. */
async function startStorm(): Promise<Storm> {
  const { businessId, secretKey: key } = await createBusiness(service.sql)
  const speak = speakTo(service.url)
  let [answered, stopped] = [0, false]
  const send = async (path: string, json: unknown) => {
    const { status, body, text } = await speak('POST', `/api/sdk/${path}`, { key, json })
    expect([status, text]).toEqual([200, text])
    answered += 1
    return body.data
  }
  const someone = () => Math.floor(Math.random() * PEOPLE)
  const event = (n: number) => ({
    event: ['purchase', 'lesson', 'order_delivered'][n % 3],
    identity: { [n % 2 === 0 ? 'email' : 'phone']: n % 2 === 0 ? `p${n}@x.io` : `97250000${1000 + n}` },
    ...(n % 3 === 0 && { value: n / 10, currency: 'USD' }),
    tags: [`t${n % 5}`],
  })
  const worker = async () => {
    while (!stopped) {
      const [a, b] = [someone(), someone()]
      const { contactId } = await send('track', event(a))
      await send('track/batch', { events: [event(a), event(b), event(a)] })
      const both = { identity: { email: `p${a}@x.io`, phone: `97250000${1000 + b}` }, traits: { seats: a } }
      if (a % 4 === 0) await send('identify', both)
      if (b % 20 === 0) await speak('DELETE', `/api/contacts/${String(contactId)}`, { key })
    }
  }
  const workers = Array.from({ length: WORKERS }, worker)
  return {
    businessId,
    answered: () => answered,
    async stop() {
      stopped = true
      await Promise.all(workers)
      await untilShipped(businessId)
    },
  }
}

async function untilShipped(businessId: string): Promise<void> {
  const left = async () => {
    const [row] = await service.sql<[{ left: number }]>`
      select (select count(*)::int from outbox where shipped_at is null and ${businessId}::uuid = any (business_ids))
        + (select count(*)::int from erasures where deleted_at is null and business_id = ${businessId}) as left`
    return row.left
  }
  await expect.poll(left, { timeout: PATIENCE_MS, interval: 50 }).toBe(0)
}

const ROUNDS = 4

test('no false alarm in a storm, and no contact is left out when it is over', async () => {
  const storm = await startStorm()
  try {
    await expect.poll(() => storm.answered(), { timeout: PATIENCE_MS }).toBeGreaterThan(0)
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = storm.answered()
      const result = await verifyStack(service, ...(round % 2 === 0 ? [] : ['--repair']))
      expect(result).toMatchObject({ agree: true, exitCode: 0, differences: [], differing: 0 })
      expect(Object.values(result.repaired ?? {}).filter((count) => count !== 0)).toEqual([])
      expect(storm.answered()).toBeGreaterThan(before)
    }
  } finally {
    await storm.stop()
  }
  expect(await verifyStack(service)).toMatchObject({ agree: true, notCompared: 0, exitCode: 0 })
})

test('what was lost is repaired in the middle of a storm, and nothing is counted twice', async () => {
  const storm = await startStorm()
  const quiet = await startStorm()
  try {
    await expect.poll(() => quiet.answered(), { timeout: PATIENCE_MS }).toBeGreaterThan(60)
    await quiet.stop()
    const theirs = `business_id = '${quiet.businessId}'`
    for (const table of ['events', 'event_statistics', 'contact_snapshots'])
      await service.clickhouse.command({
        query: `alter table ${table} delete where ${theirs} and cityHash64(contact_id) % 2 = 0 settings mutations_sync = 2`,
      })
    expect(await verifyStack(service, '--business', quiet.businessId)).toMatchObject({ agree: false, exitCode: 1 })
    const repaired = await verifyStack(service, '--repair')
    expect(repaired).toMatchObject({ agree: true, exitCode: 0, differences: [] })
    expect(repaired.repaired?.['saves']).toBeGreaterThan(0)
  } finally {
    await storm.stop()
  }
  expect(await verifyStack(service)).toMatchObject({ agree: true, notCompared: 0, exitCode: 0 })
})
