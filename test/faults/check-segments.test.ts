/** Tests the check of segments itself: it accepts a correct run, and finds faults. */
import { setTimeout as sleep } from 'node:timers/promises'
import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, openService } from '../support/service.ts'
import { checkSegments } from './check-segments.ts'
import { type Business, createFaultsBusiness } from './create-businesses.ts'
import { Ledger } from './ledger.ts'
import { seeded } from './seeded.ts'
import { startTraffic } from './traffic.ts'

const ENOUGH = 150
let service: Service
let business: Business

beforeAll(async () => {
  service = await openService({ TRUST_PROXY: 'true' }, { ownClickHouse: true })
  business = await createFaultsBusiness(service.sql)
  const ledger = new Ledger()
  const traffic = startTraffic({
    url: service.url,
    businesses: [business],
    ledger,
    chance: seeded(7),
    pauseMs: 10,
  })
  while (ledger.attempts().length < ENOUGH) await sleep(50)
  await traffic.stop()
  await service.shipped()
})
afterAll(() => service.close())

const complaints = async () => (await checkSegments(service, [business.businessId])).join('\n')
const noOf = (name: string) => service.sql`
  (select r.no from segment_rules r join segments s on s.business_id = r.business_id and s.id = r.segment_id
    where s.business_id = ${business.businessId} and s.name = ${name})`

it('finds nothing in a correct run, in which every segment had members', async () => {
  expect(await complaints()).toBe('')
  const [row] = await service.sql<[{ segments: number }]>`
    select count(distinct line::json ->> 'segment_id')::int as segments
    from outbox, string_to_table(segment_changes, E'\n') as line where line <> ''`
  expect(row.segments).toBe(6)
})

it('finds a member that is missing', async () => {
  const [gone] = await service.sql`
    delete from segment_members where ctid = (select ctid from segment_members where segment_no = ${noOf('counted')} limit 1)
    returning *`
  const found = await complaints()
  expect(found).toContain(`${gone!['contact_id']} is not in ${gone!['segment_no']}`)
  expect(found).toContain('members are counted')
  expect(found).toContain('the history has')
  await service.sql`insert into segment_members ${service.sql(gone!)}`
  expect(await complaints()).toBe('')
})

it('finds a member whom the stores do not know', async () => {
  const id = uuidv7()
  await service.sql`
    insert into segment_members (business_id, contact_id, segment_no, since, cause)
    select ${business.businessId}, ${id}, ${noOf('windowed')}, 0, 'live'`
  expect(await complaints()).toContain(`${id} is in`)
  await service.sql`delete from segment_members where contact_id = ${id}`
  expect(await complaints()).toBe('')
})

it('finds a change that ClickHouse has twice, and one that it lacks', async () => {
  const { clickhouse } = service
  const [row] = await service.sql<{ id: string }[]>`
    select line::json ->> 'change_id' as id
    from outbox, string_to_table(segment_changes, E'\n') as line
    where line <> '' and shipped_at is not null limit 1`
  const id = row!.id
  const query_params = { id }
  await clickhouse.command({
    query: `insert into segment_changes select * from segment_changes where change_id = {id: UUID}`,
    query_params,
  })
  expect(await complaints()).toContain(`${id} is in ClickHouse 2 times`)
  await clickhouse.command({ query: `delete from segment_changes where change_id = {id: UUID}`, query_params })
  expect(await complaints()).toContain(`${id} is shipped, and is not in ClickHouse`)
})
