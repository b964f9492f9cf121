/** Demo data, and the figures of the Home page, over real HTTP. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { listAudit } from '../../src/audit/audit.ts'
import { DEMO_DAYS, composeDemo } from '../../src/demo/compose-demo.ts'
import { DEMO_CONTACTS, loadDemo } from '../../src/demo/load-demo.ts'
import examples from '../../src/dashboard/src/features/data/sql/examples.json' with { type: 'json' }
import { createRenderService } from '../../src/messages/templates/renderer.ts'
import { addAmounts } from '../../src/rules/events/money.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const ACTOR = { kind: 'command', id: 'tester', name: 'test' } as const

let service: Service
let owner: SessionClient
beforeAll(async () => {
  service = await openService()
  owner = await signInTo(await createBusiness(service.sql, { name: 'School' }))
})
afterAll(() => service.close())

let businessId: string
let secretKey: string
async function signInTo(business: { businessId: string; secretKey: string }) {
  ;({ businessId, secretKey } = business)
  const email = `owner-${businessId}@x.io`
  await addUser(service.sql, email, { businessId, role: 'owner' })
  return signIn(service, email)
}

interface Day {
  day: string
  contacts: number
  events: number
  revenue: Record<string, number>
}
const readDays = async (client = owner) => (await client.send('GET', `/b/${businessId}/days`)).data as { days: Day[] }
const countStored = async () => {
  const [row] = await service.sql<[{ contacts: number; events: number }]>`select
    (select count(*) from contacts where business_id = ${businessId} and merged_into is null) as contacts,
    (select coalesce(sum(count), 0)::int from event_statistics where business_id = ${businessId}) as events`
  return row
}

describe('demo data', () => {
  it('is the same for the same day, and has no event later than now', () => {
    const now = Date.UTC(2026, 6, 14, 9, 26)
    const people = composeDemo({ count: 500, now })
    expect(composeDemo({ count: 500, now: now + 60_000 }).map(({ identify }) => identify.identity)).toEqual(
      people.map(({ identify }) => identify.identity),
    )
    const times = people.flatMap(({ events, visit }) => [...events, ...visit.hits].map(({ occurredAt }) => occurredAt))
    expect(times.length).toBeGreaterThan(2000)
    expect(Math.max(...times)).toBeLessThanOrEqual(now)
    expect(Math.min(...times)).toBeGreaterThanOrEqual(now - DEMO_DAYS * 86_400_000)
    const keys = people.flatMap(({ events }) => events.map(({ idempotencyKey }) => idempotencyKey))
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('is loaded by one call, doubles nothing when it is called again, and appears in every place', async () => {
    const { status, data } = await owner.send('POST', `/b/${businessId}/demo`)
    expect(status).toBe(200)
    expect(data['contacts']).toBe(DEMO_CONTACTS.default)
    expect(data['events']).toBeGreaterThan(1000)
    const stored = await countStored()
    expect(stored).toEqual(data)
    // Twice more, and both at once, as after a reload of the page.
    const again = await Promise.all([1, 2].map(() => owner.send('POST', `/b/${businessId}/demo`)))
    expect(again.map((one) => one.status)).toEqual([200, 200])
    expect(await countStored()).toEqual(stored)
    const entries = await listAudit(service.sql, { businessId, before: null, limit: 100 })
    const loads = entries.filter(({ action }) => action === 'demo.load')
    expect(loads.map(({ details }) => details)).toEqual([{ contacts: DEMO_CONTACTS.default }])
    await service.shipped()
    const { customFields } = (await owner.send('GET', `/b/${businessId}/custom-fields`)).data as {
      customFields: { key: string; type: string }[]
    }
    expect(Object.fromEntries(customFields.map(({ key, type }) => [key, type]))).toEqual({
      plan: 'Text',
      level: 'Text',
      lessons_left: 'Number',
      wants_certificate: 'Boolean',
      course_starts: 'Date',
    })
    const [links] = await service.sql<[{ visitors: number; optedIn: number }]>`select
      (select count(*) from contact_visitors where business_id = ${businessId}) as visitors,
      (select count(*) from subscriptions where business_id = ${businessId}) as "optedIn"`
    expect(links.visitors).toBe(DEMO_CONTACTS.default)
    expect(links.optedIn).toBeGreaterThan(150)
    // Everybody dates from the first event, and a day in the chart of Home has only those who signed up then.
    const [dated] = await service.sql<[{ early: number; late: number; days: number }]>`
      select count(*) filter (where c.created_at > s.first_at)::int as late,
        count(*) filter (where c.created_at < s.first_at)::int as early,
        count(distinct c.created_at / 86400000)::int as days
      from contacts c join event_statistics s on s.business_id = c.business_id and s.contact_id = c.id
      where c.business_id = ${businessId} and s.event = 'signup'`
    expect(dated).toEqual({ early: 0, late: 0, days: expect.any(Number) as number })
    expect(dated.days).toBeGreaterThan(30)
    const today = (await readDays()).days.at(-1)?.contacts ?? 0
    expect(today).toBeLessThan(30)
    const stages = await service.sql`select distinct stage from contacts where business_id = ${businessId}`
    expect(stages).toHaveLength(5)
    const [spent] = await service.sql<
      [{ rows: number; days: number }]
    >`select count(*)::int as rows, count(distinct day)::int as days from ad_spend where business_id = ${businessId}`
    expect(spent.days).toBeGreaterThanOrEqual(DEMO_DAYS)
    expect(spent.rows).toBe(spent.days * 3)
    const [contact] = await service.sql<
      [{ id: string }]
    >`select id from contacts where business_id = ${businessId} limit 1`
    const visits = async () =>
      (await owner.send('GET', `/b/${businessId}/contacts/${contact.id}/visits`)).data['visits']
    await expect.poll(visits, { timeout: PATIENCE_MS }).not.toEqual([])
    expect((await owner.send('GET', `/b/${businessId}/status`)).data).toMatchObject({ deadLetters: 0 })
  })

  it('has figures for every example of the documentation for analysts', async () => {
    const analyst = connectClickHouse(service.clickhouseUrl, { toPublic: true })
    onTestFinished(() => analyst.close())
    const read = async (statement: string) => {
      const result = await analyst.query({
        query: statement,
        query_params: { business: businessId },
        format: 'JSONEachRow',
        clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
      })
      return await result.json<Record<string, unknown>>()
    }
    const withoutFigures = async () => {
      const empty: string[] = []
      for (const { title, statement } of examples)
        if (!(await read(statement)).some((row) => Object.values(row).some((value) => value !== 0))) empty.push(title)
      return empty
    }
    // The segments were created today.
    await expect.poll(withoutFigures, { timeout: PATIENCE_MS }).toEqual(['Members at an instant'])
  })

  it('has segments and campaigns, one of which sends by the log', async () => {
    ;({ businessId } = await createBusiness(service.sql, { name: 'Alive' }))
    const email = `owner-${businessId}@x.io`
    await addUser(service.sql, email, { businessId, role: 'owner' })
    const boss = await signIn(service, email)
    const loads = await Promise.all([1, 2].map(() => boss.send('POST', `/b/${businessId}/demo`)))
    expect(loads.map(({ status }) => status)).toEqual([200, 200])
    const named = async (path: string, list: string) =>
      ((await boss.send('GET', `/b/${businessId}/${path}`)).data[list] as { name: string; status: string }[])
        .map(({ name, status }) => `${name}: ${status}`)
        .toSorted()
    expect(await named('campaigns', 'campaigns')).toEqual([
      'Checkout of a plan left open: draft',
      'Trial lesson: published',
      'Win back quiet customers: draft',
    ])
    expect(await named('segments', 'segments')).toHaveLength(3)
    expect(await named('templates', 'templates')).toHaveLength(2)
    const sent = () => service.sql`select from messages where business_id = ${businessId} and state = 'sent'`
    await expect.poll(sent, { timeout: PATIENCE_MS }).not.toHaveLength(0)
  })

  it('writes to nobody by a provider that the business has set up', async () => {
    ;({ businessId } = await createBusiness(service.sql))
    await service.sql`
      insert into channels (business_id, channel, provider, settings, secret_names, revision)
      values (${businessId}, 'email', 'smtp', '{"host":"mail.example.com","port":587}', '{}', gen_random_uuid())`
    const { exitCode } = await runAdminQuietly(['demo', '--business', businessId, '--contacts', '3'], service.config)
    expect(exitCode).toBe(0)
    const published = await service.sql`
      select from campaigns where business_id = ${businessId} and status = 'published'`
    expect(published).toHaveLength(0)
  })

  it('is refused where there are other contacts, and to those who may not change the business', async () => {
    const boss = await signInTo(await createBusiness(service.sql))
    const email = `marketer-${businessId}@x.io`
    await addUser(service.sql, email, { businessId, role: 'marketer' })
    const marketer = await signIn(service, email)
    expect((await marketer.send('POST', `/b/${businessId}/demo`)).code).toBe('not_permitted')
    await send('track', { event: 'signup', identity: { email: 'ann@x.io' } })
    const refused = await boss.send('POST', `/b/${businessId}/demo`)
    expect([refused.status, refused.code]).toEqual([409, 'business_not_empty'])
    expect((await countStored()).contacts).toBe(1)
  })

  it('is loaded by a command, up to its limit', async () => {
    ;({ businessId, secretKey } = await createBusiness(service.sql))
    const run = (options: string) => runAdminQuietly(`demo ${options}`.split(' '), service.config)
    const past = await run(`--business ${businessId} --contacts ${DEMO_CONTACTS.max + 1}`)
    expect([past.exitCode, past.err]).toEqual([2, expect.stringContaining('--contacts') as string])
    const { exitCode, out } = await run(`--business ${businessId} --contacts 3 --json`)
    expect(exitCode).toBe(0)
    const stored = await countStored()
    expect(JSON.parse(out)).toEqual({ businessId, ...stored, added: stored })
    // The second time it says that nothing was missing, and after a loss what it has added.
    const again = await run(`--business ${businessId} --contacts 3`)
    expect(again.out).toBe(`The demo was already in the business "Test" (${businessId}), and nothing was missing\n`)
    const more = await run(`--business ${businessId} --contacts 4`)
    const added = (await countStored()).events - stored.events
    const completed = `Completed the demo in the business "Test" (${businessId})`
    expect(more.out).toBe(`${completed}. Added contacts: 1, events: ${added}\n`)
    await send('track', { event: 'signup', identity: { email: 'ann@x.io' } })
    const refused = await run(`--business ${businessId}`)
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('contacts of its own') as string])
  })

  it('goes into a business of its own where no business is named, and the next time into the same', async () => {
    await createBusiness(service.sql)
    const load = async () => {
      const { exitCode, out } = await runAdminQuietly(['demo', '--contacts', '2', '--json'], service.config)
      expect(exitCode).toBe(0)
      ;({ businessId } = JSON.parse(out) as { businessId: string })
      expect((await countStored()).contacts).toBe(2)
      return businessId
    }
    const own = await load()
    expect(await service.sql`select name from businesses where id = ${own}`).toEqual([{ name: 'Demo school' }])
    expect(await load()).toBe(own)
    const created = await runAdminQuietly(['key', 'create', '--business', own, '--json'], service.config)
    ;({ key: secretKey } = JSON.parse(created.out) as { key: string })
    await send('track', { event: 'signup', identity: { email: 'ann@x.io' } })
    expect(await load()).not.toBe(own)
  })

  it('is refused by an inactive business, by name', async () => {
    ;({ businessId } = await createBusiness(service.sql, { active: false }))
    const { exitCode, err } = await runAdminQuietly(['demo', '--business', businessId], service.config)
    expect([exitCode, err]).toEqual([
      1,
      `The business is not active. To activate it: admin business update ${businessId} --active true\n`,
    ])
    const email = `inactive-${businessId}@x.io`
    await addUser(service.sql, email, { businessId, role: 'owner' })
    const refused = await (await signIn(service, email)).send('POST', `/b/${businessId}/demo`)
    expect([refused.status, refused.code]).toEqual([403, 'business_inactive'])
  })

  it('has the most people that are allowed, and stops when its signal aborts', async () => {
    expect(composeDemo({ count: DEMO_CONTACTS.max, now: Date.now() })).toHaveLength(DEMO_CONTACTS.max)
    const stop = AbortSignal.abort(new Error('stopped'))
    const options = { businessId, actor: ACTOR, count: 3, now: Date.now(), signal: stop }
    const submit = () => Promise.reject(new Error('must not be called'))
    const renderer = createRenderService()
    const loading = loadDemo({ ...service, submit, renderer }, options)
    await expect(loading).rejects.toThrow('stopped')
    await renderer.close()
  })
})

async function send(path: string, json: object): Promise<void> {
  const response = await fetch(`${service.url}/api/sdk/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(json),
  })
  if (!response.ok) throw new Error(await response.text())
}

describe('the last 30 days', () => {
  it('are those of the zone of the business, with revenue net of refunds', async () => {
    const client = await signInTo(await createBusiness(service.sql, { timezone: 'Pacific/Kiritimati' }))
    const now = Date.now()
    const at = (daysAgo: number) => new Date(now - daysAgo * 86_400_000).toISOString()
    const identity = { email: 'ann@x.io' }
    const sale = (value: number, currency: string, daysAgo: number, type = 'purchase') =>
      send('track', { event: type, type, identity, value, currency, occurredAt: at(daysAgo) })
    await sale(0.1, 'EUR', 0)
    await sale(0.2, 'EUR', 0)
    await sale(50, 'USD', 1)
    await sale(20, 'USD', 1, 'refund')
    await sale(9, 'USD', 29)
    await sale(7, 'USD', 31)
    await service.shipped()
    const { days } = await readDays(client)
    const dayOf = (time: number) => new Date(time + 14 * 3_600_000).toISOString().slice(0, 10)
    expect(days.map(({ day }) => day)).toEqual(
      Array.from({ length: 30 }, (_, index) => dayOf(now - (29 - index) * 86_400_000)),
    )
    expect(days.at(-1)).toEqual({
      day: dayOf(now),
      contacts: 1,
      events: 2,
      revenue: { EUR: Number(addAmounts('0.1', '0.2')) },
    })
    expect(days.at(-2)).toMatchObject({ contacts: 0, events: 2, revenue: { USD: 30 } })
    expect(days[0]).toMatchObject({ events: 1, revenue: { USD: 9 } })
    expect(days.reduce((sum, { events }) => sum + events, 0)).toBe(5)
  })
})

describe('the status', () => {
  it('counts the requests of the last minute, and says what waits', async () => {
    const client = await signInTo(await createBusiness(service.sql))
    const read = async () => (await client.send('GET', `/b/${businessId}/status`)).data
    // A busy machine may be late for a moment.
    await expect
      .poll(read, { timeout: PATIENCE_MS })
      .toMatchObject({ isReady: true, reasons: [], deadLetters: 0, hasContacts: false })
    await send('track', { event: 'signup', identity: { email: 'ann@x.io' } })
    await send('track', { event: '', identity: {} }).catch(() => undefined)
    await expect
      .poll(read, { timeout: PATIENCE_MS })
      .toMatchObject({ hasContacts: true, minute: { requests: 2, outcomes: { done: 1, refused: 1, failed: 0 } } })
    const status = (await read()) as { backlogSeconds: number; minute: { ms: { median: number; p95: number } } }
    expect(status.backlogSeconds).toBeGreaterThanOrEqual(0)
    expect(status.minute.ms.p95).toBeGreaterThanOrEqual(status.minute.ms.median)
  })

  it('counts dead letters and given-up deliveries of the business alone', async () => {
    const { businessId: other } = await createBusiness(service.sql)
    const client = await signInTo(await createBusiness(service.sql))
    for (const [id, count] of [
      [other, 3],
      [businessId, 2],
    ] as const) {
      await service.sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
        select gen_random_uuid(), ${id}, '1-0', '1-1', 'track', 'broken', '{}' from generate_series(1, ${count}::int)`
    }
    expect((await client.send('GET', `/b/${businessId}/status`)).data).toMatchObject({
      deadLetters: 2,
      failedDeliveries: 0,
      pausedChannels: [],
    })
    await service.sql`delete from dead_letters where business_id in (${other}, ${businessId})`
  })

  it('names the channels of the business that are paused', async () => {
    const { businessId: other } = await createBusiness(service.sql)
    const client = await signInTo(await createBusiness(service.sql))
    await service.sql`
      insert into channels (business_id, channel, provider, settings, revision, paused_at, pause_reason)
      select x.id::uuid, x.channel, 'log', '{}', gen_random_uuid(), x.paused_at, x.paused_at::text
      from (values (${businessId}, 'sms', 1), (${businessId}, 'email', 2), (${businessId}, 'push', null), (${other}, 'whatsapp', 3))
        as x (id, channel, paused_at)`
    expect((await client.send('GET', `/b/${businessId}/status`)).data).toMatchObject({
      pausedChannels: ['email', 'sms'],
    })
  })
})
