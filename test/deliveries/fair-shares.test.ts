/** Destinations that hang or are slow do not hold up the others. */
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { claimDeliveries } from '../../src/deliveries/claim-deliveries.ts'
import { observeDeliveries } from '../../src/deliveries/observe-deliveries.ts'
import { runDeliveries } from '../../src/deliveries/run-deliveries.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { LOOPBACK_GUARD, SECRETS_KEY, addTo } from './delivery-lab.ts'
import { OK, type Platform, openPlatform } from './platform.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
let platform: Platform
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  await stack.sql`delete from destinations`
  ;({ businessId } = await createBusiness(stack.sql))
  platform = await openPlatform()
})
afterEach(() => platform.close())

const add = (place = '') =>
  addTo(stack.sql, businessId, 'webhook', { url: platform.url + place, settings: { all: true } })
const addMany = async (many: number, place?: string) => {
  const ids: string[] = []
  for (let n = 0; n < many; n += 1) ids.push(await add(place))
  return ids
}
/** Each purchase is queued for every destination. */
const buy = (many: number) =>
  pipeline.apply(
    ...Array.from({ length: many }, (_, value) =>
      track(businessId, eventFact('purchase', { email: 'a@x.io' }, { value })),
    ),
  )
const claim = async (max: number) => {
  const claimed = await claimDeliveries(stack.sql, { max, perDestination: 4, leaseMs: 30_000 })
  return claimed.map(({ destination }) => destination.id)
}

it('a destination with all of its places takes none from one that waits', async () => {
  await addMany(8)
  await buy(5)
  expect(await claim(100)).toHaveLength(32)
  const free = await addMany(6)
  await buy(1)
  const taken: string[] = []
  for (let n = 0; n < 6; n += 1) taken.push(...(await claim(1)))
  expect(taken.toSorted()).toEqual(free.toSorted())
  expect(await claim(100)).toEqual([])
})

it('places go first to the destination that has the fewest', async () => {
  const ids = await addMany(3)
  await buy(5)
  const taken: string[] = []
  for (let n = 0; n < 12; n += 1) taken.push(...(await claim(1)))
  for (const round of [0, 3, 6, 9]) expect(taken.slice(round, round + 3).toSorted()).toEqual(ids.toSorted())
})

it('destinations that hang are left alone for a while, and all others are sent to meanwhile', async () => {
  await addMany(8, '/hangs')
  await buy(20)
  const quick = await add('/quick')
  await buy(10)
  platform.reply = (response, heard) => (heard.path.startsWith('/quick') ? OK(response, heard) : undefined)
  const heard = (place: string) => platform.heard.filter(({ path }) => path.startsWith(place)).length
  const stop = new AbortController()
  const log = createLogger({ level: 'silent', name: 'test' })
  const config = { secretsKey: SECRETS_KEY, deliveryTries: 3, deliveriesKeepMs: 86_400_000 }
  // Long enough that a slow answer on a busy machine is not treated as a hang.
  const running = runDeliveries({ sql: stack.sql, log, config, guard: LOOPBACK_GUARD, attemptMs: 4000 }, stop.signal)
  const areHeld = async () =>
    (await stack.sql`select from destinations where held_until > now() and id <> ${quick}`).length === 8
  await vi.waitUntil(areHeld, { timeout: PATIENCE_MS, interval: 50 })
  await vi.waitUntil(() => heard('/quick') === 10, { timeout: PATIENCE_MS, interval: 50 })
  // Longer than the time until the next search for due deliveries.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect([heard('/quick'), heard('/hangs')]).toEqual([10, 32])
  stop.abort()
  await running
  const held = await stack.sql<{ id: string; seconds: number }[]>`
    select id, extract(epoch from held_until - now())::float8 as seconds from destinations`
  for (const { id, seconds } of held)
    if (id === quick) expect(seconds).toBe(-Infinity)
    else expect(seconds).toSatisfy((left: number) => left > 50 && left <= 60)
})

it('a delivery that waits for a destination left alone counts as late too', async () => {
  const id = await add()
  await buy(1)
  await stack.sql`update deliveries set next_attempt_at = now() - interval '50 seconds'`
  await stack.sql`update destinations set held_until = now() + interval '1 minute' where id = ${id}`
  const metrics = createMetrics()
  await observeDeliveries(stack.sql, metrics)
  expect(await metrics.registry.metrics()).toMatch(/^deliveries_lag_seconds 50\./m)
})
