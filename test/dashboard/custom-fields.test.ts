/** Custom fields in the dashboard: their use, their values and their descriptions, over real HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAudit } from '../../src/audit/audit.ts'
import { SAMPLE_CONTACTS, readFieldUse, readFieldValues } from '../../src/timeline/reading/read-field-statistics.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let businessId: string
let marketer: SessionClient
let reader: SessionClient
const hostile = '<script>alert(1)</script>'

beforeAll(async () => {
  service = await openService({}, { ownClickHouse: true })
  const { sql, url } = service
  const business = await createBusiness(sql, { name: 'Shop' })
  ;({ businessId } = business)
  await addUser(sql, 'owner@x.io', { businessId, role: 'owner' })
  await addUser(sql, 'marketer@x.io', { businessId, role: 'marketer' })
  await addUser(sql, 'reader@x.io', { businessId, role: 'read-only' })
  marketer = await signIn(service, 'marketer@x.io')
  reader = await signIn(service, 'reader@x.io')
  const people = [
    { plan: 'pro', seats: 1, beta: true, since: '2024-01-31' },
    { plan: 'pro', seats: 2, since: '2024-03-01T12:00:00Z' },
    { plan: hostile, seats: 3.5 },
    { seats: -4 },
    {},
  ]
  for (const [index, traits] of people.entries()) {
    const response = await fetch(`${url}/api/sdk/identify`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ identity: { platformCustomerId: `c${index}` }, traits }),
    })
    if (!response.ok) throw new Error(await response.text())
  }
  await service.shipped()
})
afterAll(() => service.close())

const path = (rest = '') => `/b/${businessId}/custom-fields${rest}`
const values = async (key: string) => (await marketer.send('GET', path(`/values?key=${encodeURIComponent(key)}`))).data

describe('the list', () => {
  it('says how many contacts have each field, and no value', async () => {
    const { data } = await reader.send('GET', path())
    expect(data).toMatchObject({
      use: { contacts: 5, isSampled: false },
      customFields: [
        { key: 'beta', type: 'Boolean', filled: 1 },
        { key: 'plan', type: 'Text', filled: 3, description: '', isHidden: false },
        { key: 'seats', type: 'Number', filled: 4 },
        { key: 'since', type: 'Date', filled: 2 },
      ],
    })
    expect(JSON.stringify(data)).not.toContain(hostile)
  })

  it('shows none of another business', async () => {
    const other = (await createBusiness(service.sql)).businessId
    await addUser(service.sql, 'marketer@x.io', { businessId: other, role: 'owner' })
    const { data } = await marketer.send('GET', `/b/${other}/custom-fields`)
    expect(data).toEqual({ customFields: [], use: { contacts: 0, isSampled: false } })
  })
})

describe('the values', () => {
  it('are counted by frequency for a text', async () => {
    expect(await values('plan')).toEqual({
      contacts: 5,
      isSampled: false,
      filled: 3,
      distinct: 2,
      top: [
        { value: 'pro', count: 2 },
        { value: hostile, count: 1 },
      ],
      quantiles: null,
      range: null,
    })
  })

  it('have quantiles for a number, and a range for a date', async () => {
    expect(await values('seats')).toMatchObject({ filled: 4, quantiles: [-4, -4, 1, 2, 3.5] })
    expect(await values('since')).toMatchObject({
      range: { from: '2024-01-31T00:00:00.000Z', to: '2024-03-01T12:00:00.000Z' },
    })
    expect(await values('beta')).toMatchObject({ top: [{ value: 'true', count: 1 }] })
  })

  it('need the right to read contacts, and a field that exists', async () => {
    expect((await reader.send('GET', path('/values?key=plan'))).code).toBe('not_permitted')
    expect((await marketer.send('GET', path('/values?key=none'))).code).toBe('not_found')
    expect((await marketer.send('GET', path('/values?key=a%00b'))).code).toBe('not_found')
    expect((await marketer.send('GET', path('/values'))).issues).toEqual([
      { path: 'key', message: 'key is required', code: 'required' },
    ])
  })
})

describe('describing and hiding', () => {
  it('keeps both, and writes who did it', async () => {
    await marketer.send('PATCH', path(), { key: 'plan', description: ` ${hostile} ` })
    await marketer.send('PATCH', path(), { key: 'plan', isHidden: true })
    const { data } = await marketer.send('GET', path())
    const found = (data['customFields'] as { key: string }[]).find(({ key }) => key === 'plan')
    expect(found).toMatchObject({ description: hostile, isHidden: true, filled: 3 })
    const audit = await listAudit(service.sql, { businessId, before: null, limit: 2 })
    expect(audit.map(({ action, actorName, target, details }) => [action, actorName, target, details])).toEqual([
      ['custom-field.describe', 'marketer@x.io', 'plan', { fields: ['isHidden'] }],
      ['custom-field.describe', 'marketer@x.io', 'plan', { fields: ['description'] }],
    ])
  })

  it('takes 500 characters, and refuses one more', async () => {
    expect((await marketer.send('PATCH', path(), { key: 'seats', description: 'x'.repeat(500) })).status).toBe(200)
    const { issues } = await marketer.send('PATCH', path(), { key: 'seats', description: 'x'.repeat(501) })
    expect(issues).toEqual([
      {
        path: 'description',
        message: 'description must be a string of at most 500 characters',
        code: 'text_up_to',
        values: { max: 500 },
      },
    ])
  })

  it('refuses a role without the right, an unknown field, and nothing to change', async () => {
    expect((await reader.send('PATCH', path(), { key: 'plan', isHidden: true })).code).toBe('not_permitted')
    expect((await marketer.send('PATCH', path(), { key: 'none', isHidden: true })).code).toBe('not_found')
    expect((await marketer.send('PATCH', path(), { key: 'plan' })).code).toBe('invalid_request')
  })
})

it('says nothing of use when ClickHouse does not answer', async () => {
  const away = connectClickHouse('http://127.0.0.1:9/none')
  expect(await readFieldUse(away, businessId)).toBeNull()
  await away.close()
})

it('reads a sample of many contacts', async () => {
  const many = (await createBusiness(service.sql)).businessId
  const rows = SAMPLE_CONTACTS * 3
  await service.clickhouse.command({
    query: `insert into contact_snapshots (business_id, contact_id, revision, erased, created_ms, stage, custom_fields, order_count)
      select '${many}', generateUUIDv4(number), 1, 0, 0, 'Awareness',
        if(number % 4 = 0, '{"plan":"pro"}', '{"plan":"free","seats":' || toString(number % 100) || '}'), 0
      from numbers(${rows})`,
  })
  const use = await readFieldUse(service.clickhouse, many)
  expect(use?.isSampled).toBe(true)
  expect(use?.contacts).toBeGreaterThan(SAMPLE_CONTACTS * 0.95)
  expect(use?.contacts).toBeLessThan(SAMPLE_CONTACTS * 1.05)
  expect((use?.filled.get('seats') ?? 0) / (use?.contacts ?? 1)).toBeCloseTo(0.75, 1)
  const found = await readFieldValues(service.clickhouse, { businessId: many, key: 'plan', type: 'Text' })
  expect(found?.top.map(({ value }) => value)).toEqual(['free', 'pro'])
  expect(found?.filled).toBe(use?.contacts)
})
