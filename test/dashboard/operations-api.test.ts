/** The operators' API over real HTTP: partitions, stores and dead letters. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listAudit } from '../../src/audit/audit.ts'
import { PARTITION_KINDS } from '../../src/stream/partitions/partition-of.ts'
import { VERSION } from '../../src/version.ts'
import { eventFact, track } from '../support/facts.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let operator: SessionClient
let owner: SessionClient
let businessId: string
beforeAll(async () => {
  service = await openService()
  ;({ businessId } = await createBusiness(service.sql))
  await addUser(service.sql, 'boss@x.io', { isOperator: true })
  await addUser(service.sql, 'owner@x.io', { businessId, role: 'owner' })
  operator = await signIn(service, 'boss@x.io')
  owner = await signIn(service, 'owner@x.io')
})
afterAll(() => service.close())

const list = async () =>
  (await operator.send('GET', '/operations/dead-letters')).data as {
    deadLetters: { id: string; reason: string }[]
    isTruncated: boolean
  }
const change = (what: 'replay' | 'drop', deadLetterIds: string[], client = operator) =>
  client.send('POST', `/operations/dead-letters/${what}`, { deadLetterIds })

async function addLetter(payload: string, at = new Date()): Promise<string> {
  const id = randomUUID()
  await service.sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload, created_at)
    values (${id}, ${businessId}, '0', '1-1', 'track', 'broken', ${payload}, ${at})`
  return id
}

it('shows every partition with its worker, and the stores', async () => {
  let data: Record<string, unknown> = {}
  const read = async () => {
    ;({ data } = await operator.send('GET', '/operations/installation'))
    return data
  }
  // On a busy machine a worker may lose a partition for a moment.
  await expect.poll(read, { timeout: PATIENCE_MS }).toMatchObject({
    version: VERSION,
    isReady: true,
    blocking: [],
    outbox: { rows: expect.any(Number) as number },
  })
  const stores = data['stores'] as { store: string; latencyMs: number; bytes: number }[]
  expect(stores.map(({ store }) => store)).toEqual(['redis', 'postgres', 'clickhouse'])
  for (const { latencyMs, bytes } of stores) {
    expect(latencyMs).toBeGreaterThan(0)
    expect(bytes).toBeGreaterThan(0)
  }
  const partitions = data['partitions'] as { ofEachKind: number; list: { partition: string; worker: string | null }[] }
  expect(partitions.list.length).toBe(partitions.ofEachKind * PARTITION_KINDS.length)
  expect(partitions.list.every(({ worker }) => worker !== null)).toBe(true)
})

it('is closed to owners, for every route', async () => {
  const asked = await Promise.all([
    owner.send('GET', '/operations/installation'),
    owner.send('GET', '/operations/dead-letters'),
    change('replay', [randomUUID()], owner),
    change('drop', [randomUUID()], owner),
  ])
  expect(asked.map(({ code }) => code)).toEqual(asked.map(() => 'not_permitted'))
})

it('replays one that can be applied, once, and says why others cannot', async () => {
  const request = track(businessId, eventFact('signup', { email: 'ann@x.io' }))
  const good = await addLetter(JSON.stringify({ ...request, n: 1, requestId: 'r-1' }))
  const broken = await addLetter('no JSON')
  const unknown = randomUUID()
  const { data } = await change('replay', [good, broken, unknown, good])
  const results = data['results'] as { id: string; outcome: string; reason: string | null }[]
  expect(results.map(({ outcome }) => outcome)).toEqual(['applied', 'not_replayable', 'not_found', 'not_found'])
  expect(results[1]?.reason).toContain('not JSON')
  expect((await list()).deadLetters.map(({ id }) => id)).toEqual([broken])
  const [event] = await service.sql`select count from event_statistics where business_id = ${businessId}`
  expect(event).toEqual({ count: 1 })
  const [entry] = await listAudit(service.sql, { businessId: null, before: null, limit: 1 })
  expect(entry).toMatchObject({ actorName: 'boss@x.io', action: 'dead-letter.replay', details: { deadLetters: 4 } })
  expect((await change('drop', [broken, unknown])).data['dropped']).toEqual([broken])
  expect((await list()).deadLetters).toEqual([])
})

it('takes 50 at once and no more, and only ids', async () => {
  const ids = Array.from({ length: 51 }, () => randomUUID())
  expect((await change('drop', ids)).code).toBe('invalid_request')
  expect((await change('drop', ids.slice(1))).status).toBe(200)
  expect((await change('drop', [])).code).toBe('invalid_request')
  const wrong = await change('replay', [randomUUID(), '1'])
  expect([wrong.code, wrong.issues[0]?.path]).toEqual(['invalid_request', 'deadLetterIds.1'])
})

it('lists 200, without the requests themselves, and says when there are more', async () => {
  const began = Date.now()
  const ids: string[] = []
  for (let index = 0; index < 200; index += 1) ids.push(await addLetter('secret', new Date(began + index)))
  expect(await list()).toMatchObject({ isTruncated: false, deadLetters: ids.map((id) => ({ id })) })
  await addLetter('secret', new Date(began + 200))
  const { deadLetters, isTruncated } = await list()
  expect([deadLetters.length, isTruncated]).toEqual([200, true])
  expect(JSON.stringify(deadLetters)).not.toContain('secret')
  await service.sql`delete from dead_letters where business_id = ${businessId}`
})
