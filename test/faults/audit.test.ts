/** The audit itself: content with an honest run, and not with any of the faults that it is there to find. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { compare } from './audit.ts'
import { Ledger } from './ledger.ts'
import { type Held, readHeld } from './read-held.ts'
import { seeded } from './seeded.ts'
import { startTraffic } from './traffic.ts'
import type { Business } from './world.ts'

let service: Service
const ledger = new Ledger()
let businesses: Business[]

beforeAll(async () => {
  service = await openService()
  businesses = [await createBusiness(service.sql), await createBusiness(service.sql)]
  const traffic = startTraffic({ url: service.url, businesses, ledger, chance: seeded(7), pauseMs: 10 })
  await sleep(1500)
  await traffic.stop()
  await service.shipped()
})
afterAll(() => service.close())

const held = () =>
  readHeld(
    service,
    businesses.map(({ businessId }) => businessId),
  )
const complaintsOf = async () => compare(ledger, await held()).complaints.join('\n')

it('is content with an honest run, which has everything in it', async () => {
  const { complaints, acknowledged, recorded } = compare(ledger, await held())
  expect(complaints).toEqual([])
  expect(recorded).toBe(acknowledged)
  expect(acknowledged).toBeGreaterThan(100)
  const answers = ledger.attempts().map(({ data }) => data)
  expect(answers.some(({ deduped }) => deduped === true)).toBe(true)
  expect([...(await held()).contacts].some(([id, { survivor }]) => id !== survivor)).toBe(true)
})

/** Each breaks what was read, as a fault of the product would; the words are what the audit says of it. */
const MUTATIONS: [fault: string, words: string, mutate: (held: Held) => void][] = [
  ['an event lost in Postgres', 'lost:', ({ postgresMarks }) => postgresMarks.delete(first(postgresMarks))],
  ['an event lost in ClickHouse', 'lost:', ({ clickhouseMarks }) => clickhouseMarks.delete(first(clickhouseMarks))],
  ['an event recorded twice', 'doubled:', ({ postgresMarks }) => postgresMarks.set(first(postgresMarks), 2)],
  ['a timeline row shipped twice', 'doubled:', ({ clickhouseMarks }) => clickhouseMarks.set(first(clickhouseMarks), 2)],
  ['an event that nobody sent', 'unexplained:', ({ clickhouseMarks }) => clickhouseMarks.set('stray', 1)],
  ['a statistic that is one short', 'Postgres:', ({ postgresSums }) => lower(postgresSums, ' event ')],
  ['an order too few', 'Postgres:', ({ postgresSums }) => lower(postgresSums, ' orders')],
  ['revenue off by a cent', 'Postgres:', ({ postgresSums }) => lower(postgresSums, ' revenue ')],
  ['a view that counted twice', 'ClickHouse:', ({ clickhouseSums }) => lower(clickhouseSums, ' event ')],
  ['a snapshot left behind', 'ClickHouse:', ({ clickhouseSums }) => lower(clickhouseSums, ' revenue ')],
  ['a day that is wrong', 'revenue', ({ clickhouseRevenue }) => lower(clickhouseRevenue, ' revenue ')],
  ['a contact made twice', 'contacts are there for', ({ contacts }) => contacts.set('twin', { survivor: 'twin' })],
  ['an identity gone', 'lie on', ({ identities }) => identities.delete(first(identities))],
  [
    'an identify kept twice',
    'is kept 2 times',
    ({ identifications }) => identifications.set(first(identifications), 2),
  ],
]

describe('finds', () => {
  it.each(MUTATIONS)('%s', async (_fault, words, mutate) => {
    const read = await held()
    mutate(read)
    expect(compare(ledger, read).complaints.join('\n')).toContain(words)
  })

  it('an answer that claims to be the first twice, or names another contact', () => {
    const [sending] = ledger.sendings.filter(({ kind, attempts }) => kind === 'track' && attempts[0]?.data.isNew)
    const [attempt] = sending?.attempts ?? []
    if (!sending || !attempt) throw new Error('nobody was new')
    sending.attempts.push({ ...attempt })
    return expect(complaintsOf().finally(() => sending.attempts.pop())).resolves.toMatch(
      /answers are the first of[\s\S]*was new in 2 answers/,
    )
  })
})

describe('reads the stores themselves', () => {
  it('a row that went, and one that came twice', async () => {
    const { sql, clickhouse } = service
    const addToOne = (n: number) => sql`
      update event_statistics set count = count + ${n}
      where (contact_id, event) = (select contact_id, event from event_statistics order by 1, 2 limit 1)`
    await addToOne(1)
    expect(await complaintsOf()).toContain('Postgres:')
    await addToOne(-1)
    expect(await complaintsOf()).toBe('')

    const [outbox] = await sql<[{ id: number; events: string }]>`
      select id, events from outbox where event_count > 0 limit 1`
    await sql`update outbox set events = events || E'\n' || events where id = ${outbox.id}`
    expect(await complaintsOf()).toContain('doubled:')
    await sql`update outbox set events = ${outbox.events} where id = ${outbox.id}`

    await clickhouse.command({
      query: 'insert into events select * from events limit 1 settings insert_deduplicate = 0',
    })
    expect(await complaintsOf()).toMatch(/doubled:[\s\S]*ClickHouse:/)
    await clickhouse.command({ query: 'alter table events delete where 1 settings mutations_sync = 2' })
    expect(await complaintsOf()).toContain('lost:')
  })
})

const first = (map: Map<string, unknown>): string => [...map.keys()][0] ?? ''

function lower(sums: Map<string, string>, what: string): void {
  const [name = '', value = ''] = [...sums].find(([name]) => name.includes(what)) ?? []
  const [amount = '', ...rest] = value.split(' ')
  sums.set(name, [Number(amount) - 1, ...rest].join(' '))
}
