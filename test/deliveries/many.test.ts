/** More conversions than one step takes: they are sent in several steps. */
import { beforeEach, describe, expect, it } from 'vitest'
import { changeDestination } from '../../src/deliveries/change-destination.ts'
import { findDestination, removeDestination } from '../../src/deliveries/destinations.ts'
import { dropDeliveries, retryDeliveries } from '../../src/deliveries/handle-deliveries.ts'
import { purgeDeliveries } from '../../src/deliveries/purge-deliveries.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { ACTOR, LOOPBACK_GUARD, addTo } from './delivery-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let businessId: string
let destination: string
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  destination = await addTo(stack.sql, businessId, 'webhook')
})

async function fill(many: number, state = 'dead', to = destination): Promise<void> {
  await stack.sql`
    insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks, state, settled_at)
    select ${businessId}, gen_random_uuid(), ${to}, gen_random_uuid(), gen_random_uuid(), 'e', 'lead', 0, '{}', ${state},
      case when ${state} <> 'queued' then now() - interval '1 hour' end
    from generate_series(1, ${many}::int)`
}
async function count(): Promise<Record<string, number>> {
  const rows = await stack.sql<{ state: string; count: number }[]>`
    select state, count(*)::int as count from deliveries where business_id = ${businessId} group by state`
  return Object.fromEntries(rows.map(({ state, count: many }) => [state, many]))
}
const BY = { actor: ACTOR, target: null }
const all = () => ({ id: null, businessId, destinationId: null })

describe.each([
  [1999, []],
  [2000, [2000]],
  [2001, [2000]],
  [4001, [2000, 4000]],
])('%i that were given up', (many, steps) => {
  const reported: number[] = []
  const report = (soFar: number) => void reported.push(soFar)
  beforeEach(async () => {
    reported.length = 0
    await fill(many)
    await fill(3, 'sent')
  })

  it('are due again', async () => {
    expect(await retryDeliveries(stack.sql, BY, all(), report)).toBe(many)
    expect([await count(), reported]).toEqual([{ queued: many, sent: 3 }, steps])
  })

  it('are dropped', async () => {
    expect(await dropDeliveries(stack.sql, BY, all(), report)).toBe(many)
    expect([await count(), reported]).toEqual([{ sent: 3 }, steps])
  })

  it('are deleted in time, the same number in each step', async () => {
    await stack.sql`delete from deliveries where business_id <> ${businessId} or state = 'sent'`
    const left: number[] = []
    while ((await purgeDeliveries(stack.sql, 60_000)) === 'more') left.push((await count())['dead'] ?? 0)
    expect([await count(), left]).toEqual([{}, steps.map((soFar) => many - soFar)])
  })
})

it('go in steps whatever the plan, also with one that reads the step again for each delivery', async () => {
  const off = (kind: string): [string, string] => [`enable_${kind}`, 'off']
  const settings = Object.fromEntries(['hashjoin', 'mergejoin', 'hashagg', 'material', 'sort'].map(off))
  const sql = connectPostgres(stack.databaseUrl, { max: 1, settings })
  const reported: number[] = []
  const report = (soFar: number) => void reported.push(soFar)
  await stack.sql`delete from deliveries`
  await fill(2001)
  expect(await retryDeliveries(sql, BY, all(), report)).toBe(2001)
  await stack.sql`update deliveries set state = 'dead', settled_at = now() - interval '1 hour'`
  await fill(2000)
  expect([await purgeDeliveries(sql, 60_000), await count()]).toEqual(['more', { dead: 2001 }])
  expect(await dropDeliveries(sql, BY, all(), report)).toBe(2001)
  await fill(4001)
  await removeDestination(sql, ACTOR, (await findDestination(sql, destination))!, { report })
  expect([await count(), reported]).toEqual([{}, [2000, 2000, 2000, 4000]])
  await sql.end()
})

describe('a destination is removed', () => {
  it('while the outcome of a delivery is written', async () => {
    await fill(1, 'queued')
    const removed = (await findDestination(stack.sql, destination))!
    const settling = await stack.sql.reserve()
    await settling`begin`
    await settling`update deliveries set last_error = 'r' where destination_id = ${destination}`
    const removing = removeDestination(stack.sql, ACTOR, removed)
    // Gives the removal time to wait for a lock.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await settling`update destinations set held_until = now() where id = ${destination}`
    await settling`commit`
    settling.release()
    await removing
    expect([await count(), await findDestination(stack.sql, destination)]).toEqual([{}, undefined])
  })

  it('with all of its deliveries, and with none of another', async () => {
    const other = await addTo(stack.sql, businessId, 'webhook')
    await fill(2, 'sent', other)
    await fill(2001)
    await fill(2000, 'queued')
    const reported: number[] = []
    const report = (soFar: number) => void reported.push(soFar)
    const found = (await findDestination(stack.sql, destination))!
    expect(await removeDestination(stack.sql, ACTOR, found, { report })).toBe(true)
    expect([await count(), reported]).toEqual([{ sent: 2 }, [2000, 4000]])
    expect(await findDestination(stack.sql, destination)).toBeUndefined()
  })

  it('in as many steps as there is time for, and takes nothing in between them', async () => {
    await fill(4001)
    const found = (await findDestination(stack.sql, destination))!
    const step = () => removeDestination(stack.sql, ACTOR, found, { signal: AbortSignal.abort() })
    expect([await step(), await count()]).toEqual([false, { dead: 2001 }])
    expect(await findDestination(stack.sql, destination)).toMatchObject({ active: false })
    expect([await step(), await count()]).toEqual([false, { dead: 1 }])
    expect([await step(), await count()]).toEqual([true, {}])
    expect(await findDestination(stack.sql, destination)).toBeUndefined()
    expect(await stack.sql`select from audit_log where target = ${destination}`).toHaveLength(1)
  })

  it('and is recorded again when it was used again in between', async () => {
    await fill(2001)
    const found = (await findDestination(stack.sql, destination))!
    const step = () => removeDestination(stack.sql, ACTOR, found, { signal: AbortSignal.abort() })
    expect(await step()).toBe(false)
    for (const active of [true, false]) {
      const before = (await findDestination(stack.sql, destination))!
      await changeDestination({ sql: stack.sql, guard: LOOPBACK_GUARD }, ACTOR, before, { active })
    }
    expect(await step()).toBe(true)
    const rows = await stack.sql<{ action: string }[]>`
      select action from audit_log where target = ${destination} order by id`
    expect(rows.map(({ action }) => action)).toEqual([
      'destination.remove',
      'destination.update',
      'destination.update',
      'destination.remove',
    ])
  })

  it('while saves continue, and nothing more is queued for it', async () => {
    const pipeline = await openPipeline(stack.sql)
    const settings = { settings: { all: true } }
    const removed = await addTo(stack.sql, businessId, 'webhook', settings)
    const buy = () => pipeline.track(track(businessId, eventFact('purchase', { email: 'ann@x.io' }, { value: 5 })))
    await buy()
    await fill(2000, 'sent', removed)
    const bought: Promise<unknown>[] = []
    const report = () => void bought.push(buy())
    await removeDestination(stack.sql, ACTOR, (await findDestination(stack.sql, removed))!, { report })
    expect(await Promise.all(bought)).toHaveLength(1)
    expect(await count()).toEqual({})
  })
})
