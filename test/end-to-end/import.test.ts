// @long
/**
 * A real purchase history through `admin import`, the front door, the workers and both databases, each in a process of
 * its own. The results equal a short independent calculation from the file: imported once, again, shuffled, and with
 * the workers killed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Contact, readContact } from '../../src/contacts/read/read-contact.ts'
import { freePort } from '../../src/embedded/processes/run-engine.ts'
import { KEEPS_WEB_EVENTS } from '../support/keep-web-events.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** 69,659 purchases of 23,570 customers. The file is not part of the repository. */
const WHOLE_FILE = join(ROOT, '../shared/data/cdnow.csv')
const FIXTURE = join(ROOT, 'test/end-to-end/fixtures/cdnow-sample.csv')
const ONE_CUSTOMER_IN = 34
/** Number of customers who are also read back over HTTP. */
const ASKED = 12

interface Purchase {
  customer: string
  day: string
  cents: number
}
interface Customer {
  first: string
  last: string
  count: number
  cents: number
}

const directory = mkdtempSync(join(tmpdir(), 'sluice-import-'))
const [header = '', ...rows] = drawSample()
const purchases: Purchase[] = rows.map((row) => {
  const [customer = '', day = '', , amount = ''] = row.split(',')
  return { customer, day, cents: Number(amount.replace('.', '')) }
})

/**
 * Returns all rows of every 34th customer of the whole file if it exists (about 2,000 rows), and otherwise the small
 * copy.
 */
function drawSample(): string[] {
  const lines = readFileSync(existsSync(WHOLE_FILE) ? WHOLE_FILE : FIXTURE, 'utf8')
    .trimEnd()
    .split('\n')
  if (!existsSync(WHOLE_FILE)) return lines
  return lines.filter((line, index) => index === 0 || Number(line.split(',')[0]) % ONE_CUSTOMER_IN === 0)
}

function expectedCustomers(): Map<string, Customer> {
  const customers = new Map<string, Customer>()
  for (const { customer, day, cents } of purchases) {
    const seen = customers.get(customer) ?? { first: day, last: day, count: 0, cents: 0 }
    if (day < seen.first) seen.first = day
    if (day > seen.last) seen.last = day
    seen.count++
    seen.cents += cents
    customers.set(customer, seen)
  }
  return customers
}
const expected = expectedCustomers()

function writeShuffled(name: string): string {
  const shuffled = rows.toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1))
  const file = join(directory, name)
  writeFileSync(file, [header, ...shuffled, ''].join('\n'))
  return file
}
const hashOf = (row: string): string => createHash('sha256').update(row).digest('hex')

let stack: Stack
let url = ''
let workers: ChildProcess
const children = new Set<ChildProcess>()

beforeAll(async () => {
  stack = await openStack()
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  launch(['serve'], { PORT: String(port), DRAIN_MS: '0' })
  workers = launch(['workers'])
  await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true)
  writeFileSync(join(directory, 'cdnow.csv'), [header, ...rows, ''].join('\n'))
})
afterAll(async () => {
  await Promise.all([...children].map((child) => stop(child, 'SIGTERM')))
  await stack.close()
  rmSync(directory, { recursive: true })
})

function launch(words: string[], environment: Record<string, string> = {}): ChildProcess {
  const env = {
    ...process.env,
    DATABASE_URL: stack.databaseUrl,
    REDIS_URL: stack.redisUrl,
    CLICKHOUSE_URL: stack.clickhouseUrl,
    ...KEEPS_WEB_EVENTS,
    DATA_DIR: join(directory, 'data'),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    LEASE_MS: '1000',
    ANSWER_TIMEOUT_MS: '2000',
    ...environment,
  }
  const child = spawn(process.execPath, ['src/cli.ts', ...words], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('It did not come about within 120 s')
    await sleep(50)
  }
}

interface Summary {
  received: number
  recorded: number
  deduped: number
  failed: number
}

async function runImport({ businessId, secretKey }: TestBusiness, file: string, ...more: string[]): Promise<Summary> {
  const maps = [
    'platformCustomerId=customer_id',
    'occurredAt=date',
    'value=amount_usd',
    'properties.quantity:number=quantity',
  ]
  const sets = ['event=purchase', 'type=purchase']
  const words = [...maps.flatMap((text) => ['--map', text]), ...sets.flatMap((text) => ['--set', text])]
  const child = launch(['admin', 'import', file, '--business', businessId, '--url', url, '--json', ...words, ...more], {
    SLUICE_API_KEY: secretKey,
  })
  let out = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const exitCode = await new Promise((resolve) => child.once('close', resolve))
  expect(exitCode, out).toBe(0)
  return JSON.parse(out) as Summary
}

/** Reads a contact back as a caller of the service does. */
async function askForContact({ secretKey }: TestBusiness, customer: string): Promise<Contact> {
  const response = await fetch(`${url}/api/contacts?platformCustomerId=${customer}`, {
    headers: { authorization: `Bearer ${secretKey}` },
  })
  const { data } = (await response.json()) as { data: { contacts: (Contact & { engagement: unknown })[] } }
  const [found] = data.contacts
  if (!found) throw new Error(`No contact for ${customer}`)
  // Engagement depends on the timeline, and on the time of the read.
  const { engagement: _, ...contact } = found
  return contact
}

/**
 * Reads all customers, with the ids by which ClickHouse refers to them. A few are also read back as callers do: each of
 * these reads queries a score as well.
 */
async function readContacts(business: TestBusiness): Promise<Map<string, Contact>> {
  const { businessId } = business
  const known = await stack.sql<{ customer: string; contactId: string }[]>`
    select value as customer, contact_id as "contactId" from identities
    where business_id = ${businessId} and kind = 'platformCustomerId'`
  const ids = new Map(known.map(({ customer, contactId }) => [customer, contactId]))
  const found = new Map<string, Contact>()
  for (const customer of expected.keys()) {
    const contactId = ids.get(customer)
    const contact = contactId && (await readContact(stack.sql, { businessId, contactId, currency: 'USD' }))
    if (!contact) throw new Error(`No contact for ${customer}`)
    found.set(customer, contact)
  }
  for (const customer of [...expected.keys()].slice(0, ASKED))
    expect(await askForContact(business, customer)).toEqual(found.get(customer))
  return found
}

async function query<FileRow>(business: TestBusiness, text: string): Promise<FileRow[]> {
  const result = await stack.clickhouse.query({
    query: text,
    query_params: { business: business.businessId },
    format: 'JSONEachRow',
  })
  return result.json<FileRow>()
}

async function countEvents({ businessId }: TestBusiness): Promise<number> {
  const [counted] = await stack.sql<{ events: number }[]>`
    select coalesce(sum(count), 0)::int as events from event_statistics where business_id = ${businessId}`
  return counted?.events ?? 0
}

/** Returns everything that analysts can see of a business, once all recorded data has arrived. */
async function readViews(business: TestBusiness) {
  const where = 'where business_id = {business:UUID}'
  await until(async () => {
    const [counted] = await query<{ events: number }>(
      business,
      `select toUInt32(count()) as events from timeline ${where}`,
    )
    const pending = await stack.sql`select 1 from outbox where shipped_at is null limit 1`
    return counted?.events === rows.length && pending.length === 0
  })
  return {
    statistics: await query<{ id: string; event: string; first: number; last: number; count: number }>(
      business,
      `select contact_id as id, event, toFloat64(first_ms) as first, toFloat64(last_ms) as last, toUInt32(count) as count
       from contact_event_statistics ${where} order by id`,
    ),
    contacts: await query<{ id: string; orders: number; usd: string }>(
      business,
      `select contact_id as id, toUInt32(order_count) as orders, toString(revenue['USD']) as usd from contacts ${where} order by id`,
    ),
    days: await query<{ day: string; cents: number; orders: number }>(
      business,
      `select toString(day) as day, toFloat64(revenue * 100) as cents, toUInt32(orders) as orders
       from revenue_by_day ${where} and currency = 'USD' order by day`,
    ),
  }
}

function totalByDay(): { day: string; cents: number; orders: number }[] {
  const days = Map.groupBy(purchases, ({ day }) => day)
  return [...days]
    .map(([day, sold]) => ({ day, cents: sold.reduce((sum, { cents }) => sum + cents, 0), orders: sold.length }))
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))
}

/** Compares every customer and every day, in Postgres and in ClickHouse. Returns all data that was read. */
async function expectExact(business: TestBusiness) {
  const contacts = await readContacts(business)
  const views = await readViews(business)
  const statistics = new Map(views.statistics.map((row) => [row.id, row]))
  const snapshots = new Map(views.contacts.map((row) => [row.id, row]))
  const read = [...contacts].map(([customer, contact]) => {
    const { id: _, ...statistic } = statistics.get(contact.contactId) ?? { id: '' }
    const snapshot = snapshots.get(contact.contactId)
    return [
      customer,
      contact.revenue,
      contact.orderCount,
      contact.events,
      statistic,
      snapshot?.orders,
      Number(snapshot?.usd),
    ]
  })
  const wanted = [...expected].map(([customer, { first, last, count, cents }]) => {
    const [total, firstMs, lastMs] = [cents / 100, Date.parse(first), Date.parse(last)]
    return [
      customer,
      // A free order adds no currency.
      { total, currency: 'USD', byCurrency: cents === 0 ? {} : { USD: total } },
      count,
      [{ event: 'purchase', firstAt: `${first}T00:00:00.000Z`, lastAt: `${last}T00:00:00.000Z`, count }],
      { event: 'purchase', first: firstMs, last: lastMs, count },
      count,
      total,
    ]
  })
  expect(read).toEqual(wanted)
  expect(views.days).toEqual(totalByDay())
  expect([views.statistics.length, views.contacts.length]).toEqual([expected.size, expected.size])
  return { contacts, views }
}

/** A batch that the service was slow to answer (202) is sent again for its outcome. Its rows are then duplicates. */
function expectSettled({ received, recorded, deduped, failed }: Summary): void {
  const settled = recorded + deduped
  expect({ received, settled, failed }).toEqual({ received: rows.length, settled: rows.length, failed: 0 })
}

test('imported, imported again and imported shuffled, it is exact', async () => {
  const business = await createBusiness(stack.sql)
  expectSettled(await runImport(business, join(directory, 'cdnow.csv')))
  const before = await expectExact(business)
  const again = { received: rows.length, recorded: 0, deduped: rows.length, failed: 0 }
  expect(await runImport(business, join(directory, 'cdnow.csv'))).toMatchObject(again)
  expect(await runImport(business, writeShuffled('shuffled.csv'))).toMatchObject(again)
  expect(await expectExact(business)).toEqual(before)
})

test('shuffled from the start, it is the same', async () => {
  const business = await createBusiness(stack.sql)
  expectSettled(await runImport(business, writeShuffled('shuffled.csv')))
  await expectExact(business)
})

test('with the workers killed on the way, it is the same', async () => {
  const business = await createBusiness(stack.sql)
  const slowly = ['--parallel', '1', '--batch-size', String(Math.ceil(rows.length / 20))]
  const imported = runImport(business, join(directory, 'cdnow.csv'), ...slowly)
  await until(async () => (await countEvents(business)) > 0)
  await stop(workers, 'SIGKILL')
  expect(await countEvents(business)).toBeLessThan(rows.length)
  await sleep(500)
  workers = launch(['workers'])
  expectSettled(await imported)
  await expectExact(business)
})
