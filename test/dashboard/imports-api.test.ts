/** Imports from the dashboard over real HTTP: the same rows, the same keys and the same refusals as `admin import`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listAudit } from '../../src/audit/audit.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let businessId: string
let secretKey: string
let owner: SessionClient
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())

async function freshBusiness(): Promise<void> {
  ;({ businessId, secretKey } = await createBusiness(service.sql))
  await addUser(service.sql, `${businessId}@x.io`, { businessId, role: 'owner' })
  owner = await signIn(service, `${businessId}@x.io`)
}

const FILE = {
  format: 'csv',
  delimiter: ',',
  columns: ['mail', 'when', 'amount'],
  mapping: [
    { field: 'email', column: 'mail' },
    { field: 'occurredAt', column: 'when' },
    { field: 'value', column: 'amount' },
    { field: 'event', value: 'purchase' },
  ],
  timezone: 'Europe/Berlin',
  name: '',
  firstRow: 1,
  text: '',
}
const ROWS =
  'ann@x.io,2026-01-31,9.5\nann@x.io,2026-01-31,9.5\n"b\nob",2026-02-01,1\nbob@x.io,2026-02-01,"1,500"\nbob@x.io\n'
const post = (what: 'columns' | 'check' | 'rows', json: object) =>
  owner.send('POST', `/b/${businessId}/imports/${what}`, json)
const BEGUN = { file: 'orders.csv', fields: ['email', 'occurredAt', 'value', 'event'], rows: 5 }
const begin = async (client = owner) => (await client.send('POST', `/b/${businessId}/imports`, BEGUN)).data['importId']
/** Sends rows as an import of their own. */
const send = async (json: object) => post('rows', { importId: await begin(), ...json })
const logged = async () =>
  (await listAudit(service.sql, { businessId, before: null, limit: 9 })).map(({ details }) => details)
const stored = async () => {
  const [row] = await service.sql<[{ events: number; contacts: number }]>`select
    (select coalesce(sum(count), 0)::int from event_statistics where business_id = ${businessId}) as events,
    (select count(*) from contacts where business_id = ${businessId}) as contacts`
  return row
}

it('reads columns, and refuses two of one name', async () => {
  await freshBusiness()
  const { data } = await post('columns', { text: ' mail ;"a;b"\nann@x.io;1\n', delimiter: ';' })
  expect(data).toEqual({ columns: ['mail', 'a;b'], samples: [['ann@x.io', '1']] })
  const twice = await post('columns', { text: 'mail,mail\n', delimiter: ',' })
  expect([twice.code, twice.issues[0]?.message]).toEqual(['invalid_request', expect.stringContaining('two columns')])
  expect((await post('columns', { text: 'a"b\n', delimiter: ',' })).code).toBe('invalid_request')
})

it('checks rows, records them once, and says which were refused and why', async () => {
  await freshBusiness()
  const checked = (await post('check', { ...FILE, text: ROWS })).data as {
    hashes: string[]
    faults: {
      row: number
      error: string
      issues: { path: string; code?: string; values?: object }[]
      source: string[]
      eventKey: string | null
    }[]
    events: { occurredAt: string; idempotencyKey: string }[]
  }
  expect(checked.hashes).toHaveLength(5)
  expect(checked.hashes[0]).toBe(checked.hashes[1])
  expect(checked.faults.map(({ row }) => row)).toEqual([3, 4, 5])
  expect(checked.faults[1]?.error).toContain('value')
  expect(checked.faults[1]).toMatchObject({ source: ['bob@x.io', '2026-02-01', '1,500'], eventKey: null })
  expect(checked.faults[2]).toMatchObject({ source: ['bob@x.io'] })
  expect(checked.faults.map(({ issues }) => issues.map(({ code }) => code))).toContainEqual(['cell_two_ways'])
  expect(checked.faults[2]?.issues).toMatchObject([{ path: 'occurredAt', code: 'cell_no_time' }])
  expect(checked.events[0]?.occurredAt).toBe('2026-01-30T23:00:00Z')
  // Two equal rows are two events.
  expect(new Set(checked.events.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
  expect(await stored()).toEqual({ events: 0, contacts: 0 })

  const numbers = [1, 2, 1, 1, 1]
  const importId = await begin()
  expect(await logged()).toEqual([BEGUN])
  const first = (await post('rows', { ...FILE, importId, text: ROWS, numbers })).data
  expect(first).toMatchObject({ recorded: 2, deduped: 0, queued: 0 })
  expect((first['faults'] as { row: number }[]).map(({ row }) => row)).toEqual([3, 4, 5])
  const counted = { ...BEGUN, sent: 5, recorded: 2, deduped: 0, queued: 0, failed: 3 }
  expect(await logged()).toEqual([counted])
  // As after a lost answer, and as an import of its own.
  for (const again of [importId, await begin()]) {
    const repeated = await post('rows', { ...FILE, importId: again, text: ROWS, numbers })
    expect(repeated.data).toMatchObject({ recorded: 0, deduped: 2 })
  }
  expect(await stored()).toEqual({ events: 2, contacts: 1 })
  expect(await logged()).toEqual([{ ...counted, recorded: 0, deduped: 2 }, counted])
})

it('counts the rows of all parts of a file, and of no import that another person or business has begun', async () => {
  await freshBusiness()
  const importId = await begin()
  const rows = ['ann@x.io,2026-01-31,1\n', 'bob@x.io,2026-01-31,1\n', 'bob@x.io,2026-01-31,2\ncy@x.io,never,2\n']
  let firstRow = 1
  for (const text of rows) {
    const numbers = text
      .split('\n')
      .slice(1)
      .map(() => 1)
    expect((await post('rows', { ...FILE, importId, firstRow, text, numbers })).status).toBe(200)
    firstRow += numbers.length
  }
  const counted = [{ ...BEGUN, sent: 4, recorded: 3, deduped: 0, queued: 0, failed: 1 }]
  expect(await logged()).toEqual(counted)
  const mine = businessId
  await addUser(service.sql, `2-${mine}@x.io`, { businessId, role: 'owner' })
  const colleague = await signIn(service, `2-${mine}@x.io`)
  const body = { ...FILE, importId, text: rows[0], numbers: [1] }
  expect((await colleague.send('POST', `/b/${mine}/imports/rows`, body)).code).toBe('not_found')
  await freshBusiness()
  expect((await post('rows', body)).code).toBe('not_found')
  expect((await post('rows', { ...body, importId: 2 ** 40 })).code).toBe('not_found')
  for (const wrong of [{ importId: 1e300 }, { firstRow: 1e300 }])
    expect((await post('rows', { ...body, ...wrong })).code).toBe('invalid_request')
  businessId = mine
  expect(await logged()).toEqual(counted)
})

it('knows the rows that `admin import` has recorded', async () => {
  await freshBusiness()
  const folder = await mkdtemp(join(tmpdir(), 'sluice-'))
  try {
    const file = join(folder, 'orders.csv')
    await writeFile(file, `mail,when,amount\n${ROWS}`)
    const options = [
      '--map',
      'email=mail',
      '--map',
      'occurredAt=when',
      '--map',
      'value=amount',
      '--set',
      'event=purchase',
    ]
    const target = ['--business', businessId, '--key', secretKey, '--url', service.url, '--timezone', FILE.timezone]
    const config = { ...service.config, dataDir: folder }
    const ran = await runAdminQuietly(['import', file, ...target, ...options, '--allow-failures', '--json'], config)
    expect(JSON.parse(ran.out)).toMatchObject({ recorded: 2 })
  } finally {
    await rm(folder, { recursive: true })
  }
  const sent = (await send({ ...FILE, text: ROWS, numbers: [1, 2, 1, 1, 1] })).data
  expect(sent).toMatchObject({ recorded: 0, deduped: 2 })
})

it('leaves out rows without a time if the caller asks for it, and says which rows share a key', async () => {
  await freshBusiness()
  const mapping = [...FILE.mapping, { field: 'idempotencyKey', column: 'order' }]
  const text = 'ann@x.io,2026-01-31,799,#1\nann@x.io,,,#1\nbob@x.io,2026-01-31,1,\nbob@x.io,2026-01-31,1,1.5E+7\n'
  const file = { ...FILE, columns: [...FILE.columns, 'order'], mapping, text }
  const strict = (await post('check', file)).data
  expect((strict['faults'] as { row: number }[]).map(({ row }) => row)).toEqual([2, 4])
  expect(strict).toMatchObject({ leftOut: 0, keys: [expect.any(String), null, null, null] })
  const skipping = { ...file, withoutTime: 'skip' }
  const { data } = await post('check', skipping)
  expect(data).toMatchObject({ leftOut: 1, faults: [{ row: 4, issues: [{ code: 'cell_rounded' }] }] })
  const importId = await begin()
  const sent = await post('rows', { ...skipping, importId, numbers: [1, 1, 1, 1] })
  expect(sent.data).toMatchObject({ recorded: 2, leftOut: 1, faults: [{ row: 4 }] })
  expect((await logged())[0]).toMatchObject({ sent: 4, recorded: 2, failed: 1 })
})

it('reads amounts by the sign that is given', async () => {
  await freshBusiness()
  const text = 'ann@x.io,2026-01-31,1.234\n'
  expect((await post('check', { ...FILE, text })).data['faults']).toMatchObject([
    { issues: [{ code: 'cell_two_ways' }] },
  ])
  for (const [decimal, value] of [
    ['comma', 1234],
    ['point', 1.234],
  ]) {
    const { data } = await post('check', { ...FILE, text, decimal })
    expect(data).toMatchObject({ faults: [], events: [{ value }] })
  }
  expect((await post('check', { ...FILE, text, decimal: 'semicolon' })).code).toBe('invalid_request')
})

it('reads opt-ins in the words of other tools, and names the words for one that it does not know', async () => {
  await freshBusiness()
  const mapping = [...FILE.mapping, { field: 'optIn.email', column: 'optIn' }]
  const file = { ...FILE, columns: [...FILE.columns, 'optIn'], mapping }
  const words = ['SUBSCRIBED', 'cleaned', 'Never Subscribed', 'active']
  const text = words.map((word, index) => `a${index}@x.io,2026-01-31,1,${word}\n`).join('')
  expect((await post('check', { ...file, text })).data['faults']).toMatchObject([
    { row: 4, issues: [{ code: 'cell_choice', values: { sent: 'active' } }] },
  ])
  expect((await send({ ...file, text, numbers: [1, 1, 1, 1] })).data).toMatchObject({
    recorded: 3,
    faults: [{ row: 4 }],
  })
})

it('takes a tab for a delimiter, also before a first cell that is empty', async () => {
  await freshBusiness()
  expect((await post('columns', { text: 'phone\tmail\n\tann@x.io\n', delimiter: '\t' })).data).toEqual({
    columns: ['phone', 'mail'],
    samples: [['', 'ann@x.io']],
  })
  const file = { ...FILE, delimiter: '\t', columns: ['note', ...FILE.columns], text: '\tann@x.io\t2026-01-31\t2\n' }
  expect((await post('check', file)).data).toMatchObject({ faults: [], events: [{ identity: { email: 'ann@x.io' } }] })
})

it('a carriage return within a cell of any part does not end the row', async () => {
  await freshBusiness()
  const columns = [...FILE.columns, 'note']
  const mapping = [...FILE.mapping, { field: 'properties.note', column: 'note' }]
  const text = 'ann@x.io,2026-01-31,2,foo\rbar\nbob@x.io,2026-01-31,3,x\r\n'
  for (const firstRow of [1, 501]) {
    const { data } = await post('check', { ...FILE, columns, mapping, firstRow, text })
    expect(data['hashes']).toHaveLength(2)
    expect(data).toMatchObject({
      faults: [],
      events: [{ properties: { note: 'foo\rbar' } }, { properties: { note: 'x' } }],
    })
  }
})

it('takes lines that are events', async () => {
  await freshBusiness()
  const text = '{"event":"signup","identity":{"email":"ann@x.io"}}\n[1]\n{"event":"signup"}\n'
  const file = { ...FILE, format: 'ndjson', columns: [], mapping: [], text }
  expect(((await post('check', file)).data['faults'] as { row: number }[]).map(({ row }) => row)).toEqual([2, 3])
  expect((await send({ ...file, numbers: [1, 1, 1] })).data).toMatchObject({ recorded: 1 })
})

it('names the event of a row of which only the opt-in is refused: mended, it is not recorded again', async () => {
  await freshBusiness()
  const mapping = [...FILE.mapping, { field: 'optIn.email', column: 'optIn' }]
  const file = { ...FILE, columns: [...FILE.columns, 'optIn'], mapping }
  const text = 'ann@x.io,2026-01-31,9.5,2999-01-01\n'
  const { data } = await send({ ...file, text, numbers: [1] })
  const [fault] = data['faults'] as { error: string; source: string[]; eventKey: string }[]
  expect(data).toMatchObject({ recorded: 1, faults: [{ row: 1, error: expect.stringContaining('opt-in') as string }] })
  const mended = {
    ...file,
    columns: ['error', 'idempotencyKey', ...file.columns],
    mapping: [...mapping, { field: 'idempotencyKey', column: 'idempotencyKey' }],
    text: `why,${fault?.eventKey},ann@x.io,2026-01-31,9.5,2026-01-31\n`,
  }
  expect((await send({ ...mended, numbers: [1] })).data).toMatchObject({ recorded: 0, deduped: 1, faults: [] })
  expect(await stored()).toEqual({ events: 1, contacts: 1 })
})

it('takes 500 rows at once and no more, and only what a mapping may be', async () => {
  await freshBusiness()
  const row = 'ann@x.io,2026-01-31,1\n'
  expect((await post('check', { ...FILE, text: row.repeat(500) })).status).toBe(200)
  const wrong = [
    { text: row.repeat(501) },
    { mapping: FILE.mapping.slice(1) },
    { mapping: FILE.mapping.slice(0, 3) },
    { mapping: [{ field: 'colour', column: 'mail' }] },
    { mapping: [{ field: 'event' }] },
    { timezone: 'Berlin' },
    { delimiter: ',,' },
    { text: 'a"b,c\n' },
  ]
  for (const change of wrong) {
    const answer = await post('check', { ...FILE, text: row, ...change })
    expect([change, answer.code]).toEqual([change, 'invalid_request'])
  }
  expect((await send({ ...FILE, text: row, numbers: [1, 2] })).issues[0]?.path).toBe('numbers')
})

it('is for owners', async () => {
  await freshBusiness()
  await addUser(service.sql, `m-${businessId}@x.io`, { businessId, role: 'marketer' })
  const marketer = await signIn(service, `m-${businessId}@x.io`)
  for (const what of ['', '/columns', '/check', '/rows'])
    expect((await marketer.send('POST', `/b/${businessId}/imports${what}`, FILE)).code).toBe('not_permitted')
})
