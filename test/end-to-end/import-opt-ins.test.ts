/** Opt-ins in the columns of a file, through `admin import` and with the rules of the dashboard. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepareRow } from '../../src/imports/prepare-row.ts'
import { readMapping } from '../../src/imports/map-row.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { runAdminQuietly } from './run-admin.ts'

const BUSINESS = '0199a0f4-0000-7000-8000-000000000001'
const directory = mkdtempSync(join(tmpdir(), 'sluice-opt-ins-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('a row', () => {
  const prepare = (maps: string[], values: Record<string, unknown>, timezone = 'UTC') => {
    const mapping = readMapping(maps, ['event=joined'], timezone)
    const prepared = prepareRow({ mapping, businessId: BUSINESS, name: '' }, { number: 1, values }, 'hash', 1)
    return 'fault' in prepared ? prepared.fault.message : prepared.choices
  }
  const MAPS = ['email=mail', 'occurredAt=date', 'optIn.email=news', 'optIn.sms=texts', 'optIn.method=how']
  const identity = { email: 'a@x.io' }

  it('has a choice for each channel: yes and no as of the event, or the date of an opt-in', () => {
    const values = { mail: 'a@x.io', date: '2025-01-02', news: 'Yes', texts: '2024-05-06', how: 'fair' }
    expect(prepare(MAPS, values)).toEqual([
      { identity, email: true, method: 'fair', at: '2025-01-02' },
      { identity, sms: true, method: 'fair', at: '2024-05-06' },
    ])
    expect(prepare(MAPS, { ...values, news: '0', texts: ' ', how: '' })).toEqual([
      { identity, email: false, method: 'import', at: '2025-01-02' },
    ])
    expect(prepare(MAPS, { ...values, news: '', texts: '' })).toEqual([])
    expect(prepare(MAPS, { ...values, texts: '2024-05-06' }, 'Asia/Tokyo')).toMatchObject([
      { at: '2025-01-01T15:00:00Z' },
      { at: '2024-05-05T15:00:00Z' },
    ])
  })

  it('has a choice for each topic and channel', () => {
    const maps = [...MAPS, 'topic.letter.email=letter', 'topic.big_sale.sms=sale']
    const values = { mail: 'a@x.io', date: '2025-01-02', how: 'fair', letter: 'no', sale: '2024-05-06' }
    expect(prepare(maps, values)).toEqual([
      { identity, topics: { letter: { email: false } }, method: 'fair', at: '2025-01-02' },
      { identity, topics: { big_sale: { sms: true } }, method: 'fair', at: '2024-05-06' },
    ])
    expect(prepare(maps, { ...values, letter: 'pending', sale: '' })).toEqual([])
    expect(prepare(maps, { ...values, letter: 'active' })).toMatch(/^topic\.letter\.email: "active" is neither/)
    expect(() => prepare(['topic.letter.fax=letter'], values)).toThrow('there is no field "topic.letter.fax"')
  })

  it('has the words of other tools, and no record for a person who has not chosen', () => {
    const values = { mail: 'a@x.io', date: '2025-01-02', how: '' }
    const at = '2025-01-02'
    expect(prepare(MAPS, { ...values, news: 'SUBSCRIBED', texts: 'Opted-Out' })).toEqual([
      { identity, email: true, method: 'import', at },
      { identity, sms: false, method: 'import', at },
    ])
    expect(prepare(MAPS, { ...values, news: 'NEVER_SUBSCRIBED', texts: 'pending' })).toEqual([])
    expect(prepare(MAPS, { ...values, news: 'active', texts: 'yes' })).toMatch(
      /^optIn\.email: "active" is neither the date of an opt-in nor one of these words: yes, .*cleaned.*never subscribed/,
    )
    expect(prepare(MAPS, { ...values, news: '2025-02-30' })).toContain('"2025-02-30" is neither')
    expect(prepare(MAPS, { ...values, news: 'active' }, 'Asia/Tokyo')).toContain('"active" is neither')
  })

  it('that says yes or no has a date', () => {
    const undated = MAPS.filter((map) => map !== 'occurredAt=date')
    const values = { mail: 'a@x.io', date: '', news: 'no' }
    expect(prepare(undated, values)).toBe('optIn.email: yes and no need occurredAt, the date of the choice')
    expect(prepare(undated, { ...values, news: '2024-05-06' })).toHaveLength(1)
    expect(prepare(undated, { ...values, news: '20240506' })).toContain('optIn.email')
    expect(prepare(MAPS, { ...values, news: '2024-05-06' })).toContain('occurredAt: the time is empty')
  })

  it('that is a line of NDJSON has them in optIn', () => {
    const whole = { event: 'joined', identity, occurredAt: '2025-01-02' }
    expect(prepare([], { ...whole, optIn: { email: true, push: '2024-05-06' } })).toEqual([
      { identity, email: true, method: 'import', at: '2025-01-02' },
      { identity, push: true, method: 'import', at: '2024-05-06' },
    ])
    expect(prepare([], { ...whole, optIn: { email: 'Unsubscribed', push: 'pending', sms: 1 } })).toEqual([
      { identity, email: false, method: 'import', at: '2025-01-02' },
      { identity, sms: true, method: 'import', at: '2025-01-02' },
    ])
    expect(prepare([], { ...whole, optIn: { email: 'active' } })).toContain('optIn.email: "active" is neither')
    expect(prepare([], { ...whole, optIn: { fax: true } })).toBe('optIn.fax: there is no such channel')
    expect(prepare([], { ...whole, optIn: true })).toBe('optIn must be an object of channels')
  })
})

describe('an import', () => {
  let service: Service
  beforeAll(async () => {
    service = await openService()
  })
  afterAll(() => service.close())

  it('records opt-ins once, never over a later choice, and says which rows have a wrong one', async () => {
    const { businessId, secretKey } = await createBusiness(service.sql, { rateLimit: 100_000 })
    const file = join(directory, 'people.csv')
    writeFileSync(
      file,
      [
        'mail,date,news',
        'ada@x.io,2025-01-02,yes',
        'bob@x.io,2025-01-02,no',
        'eve@x.io,2025-01-02,2024-12-24',
        'fay@x.io,2025-01-02,2199-01-01',
        'gus@x.io,2025-01-02,',
        'hal@x.io,2025-01-02,Never Subscribed',
        'ida@x.io,2025-01-02,Cleaned',
        'jan@x.io,2025-01-02,active',
        '',
      ].join('\n'),
    )
    const config = { ...service.config, dataDir: directory }
    const maps = ['--map', 'email=mail', '--map', 'occurredAt=date', '--map', 'optIn.email=news']
    const words = ['import', file, '--business', businessId, '--url', service.url, '--key', secretKey]
    const run = () => runAdminQuietly([...words, ...maps, '--set', 'event=joined'], config)
    const choices = () => service.sql<{ value: string; subscribed: boolean; method: string; recorded_at: number }[]>`
      select i.value, s.subscribed, s.method, s.recorded_at from subscriptions s
      join identities i on i.business_id = s.business_id and i.contact_id = s.contact_id
      where s.business_id = ${businessId} order by i.value`

    const first = await run()
    expect([first.exitCode, first.err]).toEqual([1, expect.any(String)])
    expect(first.out).toContain('8 rows: 6 recorded, 0 already known, 2 failed')
    expect(first.out).toContain('row 4: opt-in: at must not be')
    expect(first.out).toContain('row 8: optIn.email: "active" is neither')
    const [failures = ''] = readdirSync(join(directory, 'imports')).filter((name) => name.endsWith('.ndjson'))
    expect(readFileSync(join(directory, 'imports', failures), 'utf8')).toContain('fay@x.io')
    const recorded = await choices()
    expect(recorded).toEqual([
      { value: 'ada@x.io', subscribed: true, method: 'import', recorded_at: Date.parse('2025-01-02') },
      { value: 'bob@x.io', subscribed: false, method: 'import', recorded_at: Date.parse('2025-01-02') },
      { value: 'eve@x.io', subscribed: true, method: 'import', recorded_at: Date.parse('2024-12-24') },
      { value: 'ida@x.io', subscribed: false, method: 'import', recorded_at: Date.parse('2025-01-02') },
    ])

    await service.sql`
      update subscriptions set subscribed = false, recorded_at = ${Date.parse('2025-06-01')}
      where business_id = ${businessId} and subscribed`
    expect((await run()).exitCode).toBe(1)
    expect((await choices()).map(({ subscribed }) => subscribed)).toEqual([false, false, false, false])
  })
})
