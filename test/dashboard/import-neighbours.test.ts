// @long
/** Bodies of imports at their limits: whatever one business sends, the live calls of another one are answered meanwhile. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_CELL, MAX_COLUMNS } from '../../src/imports/read-csv.ts'
import { MAX_START } from '../../src/rules/imports/file-start.ts'
import { speakTo } from '../front-door/http-client.ts'
import { atLoad } from '../support/at-load.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let business: TestBusiness
let neighbour: TestBusiness
let owner: SessionClient
beforeAll(async () => {
  service = await openService()
  business = await createBusiness(service.sql)
  neighbour = await createBusiness(service.sql)
  await addUser(service.sql, 'owner@x.io', { businessId: business.businessId, role: 'owner' })
  owner = await signIn(service, 'owner@x.io')
})
afterAll(() => service.close())

const FILE = {
  format: 'csv',
  delimiter: ',',
  columns: ['a', 'b'],
  mapping: [
    { field: 'email', column: 'a' },
    { field: 'event', value: 'x' },
  ],
  timezone: 'UTC',
  name: '',
  firstRow: 1,
}
const MAX_TEXT = 2 * 1024 * 1024
const fill = (part: string, characters: number) => part.repeat(Math.floor(characters / part.length))
const names = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`)
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('')
const wide = { ...FILE, columns: ['a', ...names(MAX_COLUMNS - 1)] }
const keys = (count: number) => JSON.stringify(Object.fromEntries(names(count).map((name) => [name, 1])))
const ndjson = { ...FILE, format: 'ndjson', columns: [] }
const spend = (text: string) => ({ text: `day,channel,amount\n${text}`, save: false })

it.each<[what: string, path: string, body: object, status: number]>([
  ['columns of one long text', 'imports/columns', { text: fill('a', MAX_START), delimiter: ',' }, 200],
  ['one more character', 'imports/columns', { text: fill('a', MAX_START + 1), delimiter: ',' }, 400],
  ['one column too many', 'imports/columns', { text: names(MAX_COLUMNS + 1).join(','), delimiter: ',' }, 400],
  ['as many columns as there may be', 'imports/columns', { text: names(MAX_COLUMNS).join(','), delimiter: ',' }, 200],
  ['a row of cells without end', 'imports/check', { ...FILE, text: fill(',', MAX_TEXT) }, 400],
  ['a cell of quotation marks', 'imports/check', { ...FILE, text: `"${fill('""', MAX_TEXT - 2)}"` }, 400],
  ['a long cell', 'imports/check', { ...FILE, text: `${fill('x', MAX_CELL)},b` }, 200],
  ['500 rows of 1,000 columns', 'imports/check', { ...wide, text: lines(500, (at) => `${at},${fill(',', 998)}`) }, 200],
  ['rows without end', 'imports/check', { ...FILE, text: fill('a\na,b\n', MAX_TEXT) }, 400],
  [
    '500 ordinary rows, full',
    'imports/check',
    { ...FILE, text: lines(500, (at) => `${at}@x.io,${fill('x', 4000)}`) },
    200,
  ],
  [
    'many fields of a long cell',
    'imports/check',
    {
      ...FILE,
      mapping: [...FILE.mapping, ...names(190).map((name) => ({ field: `properties.${name}`, column: 'b' }))],
      text: lines(20, (at) => `${at}@x.io,${fill('x', 32_768)}`),
    },
    200,
  ],
  ['a long text', 'imports/check', { ...FILE, text: fill('a', MAX_TEXT + 1) }, 400],
  ['lines with very many keys', 'imports/check', { ...ndjson, text: lines(9, () => keys(20_000)) }, 200],
  ['lines that are too long', 'imports/check', { ...ndjson, text: lines(4, () => keys(40_000)) }, 200],
  ['lines of white space', 'imports/check', { ...ndjson, text: fill(' \n', MAX_TEXT) }, 200],
  ['blank lines', 'imports/check', { ...ndjson, text: fill('\n', MAX_TEXT) }, 200],
  ['spend in 20,000 rows', 'analytics/spend/file', spend(lines(20_000, (at) => `2026-02-28,email,${at}`)), 200],
  ['spend in rows of other lengths', 'analytics/spend/file', spend(fill('a\n"",b\n', 60_000)), 200],
  ['spend in one row', 'analytics/spend/file', { text: fill(',', (4 * MAX_TEXT) / 2), save: false }, 400],
  ['spend in a cell of quotation marks', 'analytics/spend/file', spend(`"${fill('""', 4_000_000)}"`), 400],
])('%s', async (_what, path, body, status) => {
  const speak = speakTo(service.url)
  const track = () =>
    speak('POST', '/api/sdk/track', {
      key: neighbour.secretKey,
      json: { event: 'visit', identity: { email: 'ada@x.io' } },
    })
  await track()
  let isDone = false
  const sent = owner.send('POST', `/b/${business.businessId}/${path}`, body).finally(() => {
    isDone = true
  })
  let longest = 0
  while (!isDone) {
    const began = performance.now()
    expect((await track()).status).toBe(200)
    longest = Math.max(longest, performance.now() - began)
  }
  expect((await sent).status).toBe(status)
  expect(longest).toBeLessThan(atLoad(200))
})
