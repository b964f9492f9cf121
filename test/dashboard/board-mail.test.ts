/** Mails of boards: their contents and recipients, and that each is sent once. With real stores and a real SMTP server. */
import { rm } from 'node:fs/promises'
import { ClickHouseError } from '@clickhouse/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSystemMailer } from '../../src/accounts/system-mail.ts'
import type { Role } from '../../src/accounts/rights.ts'
import { findAnalystUrl } from '../../src/stores/data-dir.ts'
import { createConcurrencyLimit } from '../../src/front-door/access/concurrency-limit.ts'
import { type MailDeps, sendDueBoards } from '../../src/analytics/boards/mail/send-boards.ts'
import { createLogger } from '../../src/log.ts'
import { connectPostgres, type Sql } from '../../src/stores/postgres.ts'
import { createStatementRunner } from '../../src/analytics/sql-page/statement-runner.ts'
import { createQuery } from '../../src/analytics/sql-page/saved-queries.ts'
import { type MailServer, openMailServer, openScriptedServer } from '../messages/channels/mail-server.ts'
import { makeAnalystFolder } from '../support/analyst-engine.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

const ZONE = 'America/New_York'
/** The clock changed the day before: 08:00 is 12:00 UTC. */
const MONDAY = '2026-03-09'
const DUE = Date.parse('2026-03-09T12:00:00Z')
const PUBLIC_URL = 'https://sluice.example/'
const HOSTILE = '<img src=x onerror="alert(1)">'

let folder: string
let service: Service
let server: MailServer
let deps: MailDeps
let business: TestBusiness
let owner: SessionClient
let ids: Record<Role, string>
beforeAll(async () => {
  folder = await makeAnalystFolder()
  service = await openService({ DATA_DIR: folder })
  server = await openMailServer({ hideSTARTTLS: true })
  deps = await depsFor(server.port)
})
afterAll(async () => {
  await service.close()
  await server.close()
  await rm(folder, { recursive: true })
})

const nobody = new AbortController().signal

interface DepsOptions {
  sql?: Sql
  patience?: Parameters<typeof createSystemMailer>[1]
}

/** The same as in a front door. */
async function depsFor(port: number, { sql = service.sql, patience }: DepsOptions = {}): Promise<MailDeps> {
  const log = createLogger({ level: 'silent', name: 'test' })
  const { clickhouse, clickhouseUrl, config } = service
  const settings = { systemSmtpUrl: `smtp://127.0.0.1:${port}`, systemMailFrom: undefined, publicUrl: PUBLIC_URL }
  const mailer = createSystemMailer(settings, patience)
  if (mailer === undefined) throw new Error('no mailer')
  const analystUrl = await findAnalystUrl(config, clickhouseUrl)
  const runStatement = createStatementRunner({ clickhouse, clickhouseUrl, analystUrl, analystPassword: undefined, log })
  return {
    sql,
    clickhouse,
    log,
    mailer,
    runStatement,
    slots: { costly: createConcurrencyLimit(2) },
    publicUrl: PUBLIC_URL,
  }
}

beforeEach(async () => {
  await service.sql`delete from boards`
  server.heard.length = 0
  business = await createBusiness(service.sql, { name: 'Shop\r\nBcc: all@x.io', timezone: ZONE, currency: 'EUR' })
  const { businessId } = business
  const add = (role: Role) => addUser(service.sql, `${role}@x.io`, { businessId, role })
  ids = {
    owner: await add('owner'),
    marketer: await add('marketer'),
    analyst: await add('analyst'),
    'read-only': await add('read-only'),
  }
  owner = await signIn(service, 'owner@x.io')
})

interface ChartBody {
  title: string
  kind: string
  query?: Record<string, string>
  days?: number
}

async function createBoard(charts: ChartBody[], recipients: string[], name = 'Mornings'): Promise<string> {
  const path = `/b/${business.businessId}/boards`
  const { board } = (await owner.send('POST', path, { name })).data as { board: { id: string } }
  for (const chart of charts) {
    const body = { query: {}, page: 'analytics?days=7', size: 'half', ...chart }
    expect((await owner.send('POST', `${path}/${board.id}/charts`, body)).issues).toEqual([])
  }
  expect((await owner.send('PUT', `${path}/${board.id}/mail`, { isOn: true, recipients })).status).toBe(200)
  return board.id
}

const EVENTS: ChartBody = { title: 'Events', kind: 'series', days: 30 }

async function track(who: string, event: string, occurredAt: string, more: object = {}): Promise<void> {
  const response = await fetch(`${service.url}/api/sdk/track`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ event, identity: { email: `${who}@x.io` }, occurredAt, ...more }),
  })
  if (!response.ok) throw new Error(await response.text())
}

/** Returns the decoded parts of a mail. */
function partsOf(raw: string): { head: string; text: string; html: string } {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? ''
  const [head = '', ...parts] = raw.split(`--${boundary}`)
  const [text = '', html = ''] = parts.map(decode)
  return { head: head.replaceAll(/\r\n[ \t]+/g, ' '), text, html }
}

function decode(part: string): string {
  const [head = '', ...rest] = part.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  if (/encoding: base64/i.test(head)) return Buffer.from(body, 'base64').toString()
  if (!/encoding: quoted-printable/i.test(head)) return body
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

const heardBy = () => server.heard.flatMap(({ to }) => to).toSorted()
const mailTo = (address: string) => partsOf(server.heard.find(({ to }) => to.includes(address))?.raw ?? '')
/** Returns the cells of the row that begins with this name. */
const rowOf = (text: string, name: string) =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim().split(' | '))
    .find(([first]) => first === name)
    ?.slice(1)

describe('says', () => {
  it('what happened last week beside the week before, by the days of the business, with links', async () => {
    // The first and last instants of both weeks, and the instants next to them.
    await track('ann', 'signup', '2026-03-09T03:59:59.999Z')
    await track('bob', 'signup', '2026-03-02T05:00:00.000Z')
    await track('cyd', 'signup', '2026-03-02T04:59:59.999Z')
    await track('dan', 'signup', '2026-02-23T04:59:59.999Z')
    await track('eve', 'signup', '2026-03-09T04:00:00.000Z')
    await track('bob', 'purchase', '2026-03-05T12:00:00Z', { value: 30, currency: 'EUR' })
    await track('ann', 'purchase', '2026-02-25T12:00:00Z', { value: 20, currency: 'EUR' })
    await service.shipped()
    const id = await createBoard(
      [
        {
          title: 'Signups',
          kind: 'series',
          query: { series: '[{"measure":"contacts","events":["signup"]}]' },
          days: 30,
        },
        { title: 'By event', kind: 'series', query: { breakdown: 'event' }, days: 30 },
        { title: 'Money', kind: 'revenue', days: 7 },
        {
          title: 'Way',
          kind: 'funnel',
          query: { steps: '[{"event":"signup"},{"event":"purchase"}]' },
          days: 7,
        },
        { title: 'Back', kind: 'retention', days: 90 },
        { title: 'Life', kind: 'lifecycle', days: 90 },
        { title: 'Stages', kind: 'stages', days: 90 },
        { title: 'Worth', kind: 'cohorts', days: 90 },
        { title: 'Why', kind: 'attribution', days: 7 },
        { title: 'Web', kind: 'web', days: 7 },
        { title: 'Pages', kind: 'pages', days: 7 },
        { title: 'Sources', kind: 'sources', days: 7 },
        { title: 'Scores', kind: 'engagement' },
      ],
      [ids.owner],
    )
    await sendDueBoards(deps, DUE, nobody)
    const { head, text, html } = mailTo('owner@x.io')
    expect(head).toContain('Subject: Mornings: last week at Shop Bcc: all@x.io')
    expect(head).not.toMatch(/^Bcc:/m)
    expect(text).toContain('The week from Mar 2, 2026 to Mar 8, 2026, beside the week before.')
    expect(rowOf(text, 'Contacts signup')).toEqual(['2', '1', '+100%'])
    expect(rowOf(text, 'signup')).toEqual(['2', '1', '+100%'])
    expect(rowOf(text, 'purchase')).toEqual(['1', '1', '0%'])
    expect(rowOf(text, 'Net')).toEqual(['€30.00', '€20.00', '+50%'])
    expect(rowOf(text, 'Customers EUR')).toEqual(['1', '1', '0%'])
    expect(rowOf(text, 'Step 1 signup')).toEqual(['2', '1', '+100%'])
    expect(rowOf(text, 'Conversion')?.slice(0, 2)).toEqual(['50%', '0%'])
    expect(rowOf(text, 'New')?.length).toBe(3)
    expect(rowOf(text, 'First-time customers')).toEqual(['1', '1', '0%'])
    expect(rowOf(text, 'Visitors')).toEqual(['0', '0', '–'])
    expect(text).toContain('Open the chart: https://sluice.example/dashboard/b/')
    expect(text).toContain(`https://sluice.example/dashboard/b/${business.businessId}/boards/${id}?mail=true`)
    expect(html).toContain('<bdi>€30.00</bdi>')
    expect(html).toContain(`href="https://sluice.example/dashboard/b/${business.businessId}/analytics?days=7"`)
  })

  it('how often a named event happened, whatever it brought', async () => {
    await track('ann', 'signup', '2026-03-05T12:00:00Z')
    await track('bob', 'signup', '2026-03-05T12:00:00Z')
    await track('cyd', 'signup', '2026-02-25T12:00:00Z')
    await service.shipped()
    await createBoard(
      [{ title: 'Why', kind: 'attribution', query: { event: 'signup', by: 'channel' }, days: 7 }],
      [ids.owner],
    )
    await sendDueBoards(deps, DUE, nobody)
    expect(rowOf(mailTo('owner@x.io').text, 'unknown')).toEqual(['2', '1', '+100%'])
  })

  it('hostile names as text', async () => {
    await track('ann', HOSTILE, '2026-03-05T12:00:00Z')
    await service.shipped()
    const charts = [{ title: `Of ${HOSTILE}`, kind: 'series', query: { breakdown: 'event' }, days: 7 }]
    await createBoard(charts, [ids.owner], `Board of ${HOSTILE}\u202e`)
    await sendDueBoards(deps, DUE, nobody)
    const { text, html } = mailTo('owner@x.io')
    expect(rowOf(text, HOSTILE)).toEqual(['1', '0', '–'])
    expect(html).not.toContain('<img')
    expect(html.match(/&lt;img src=x onerror=&quot;alert\(1\)&quot;&gt;/g)?.length).toBeGreaterThan(2)
    expect(html + text).not.toContain('\u202e')
  })

  it('the rows of a saved query, to those who may run SQL', async () => {
    const actor = { kind: 'command', id: 'x', name: 'x' } as const
    const query = await createQuery(
      service.sql,
      { businessId: business.businessId, actor },
      { name: 'q', statement: 'select 7 as n, null as nothing, {t: String} as typed', parameters: { t: HOSTILE } },
    )
    if (typeof query === 'string') throw new Error(query)
    const charts = [{ title: 'Rows', kind: 'sql', query: { queryId: query.id } }]
    await createBoard(charts, [ids.owner, ids['read-only']])
    await sendDueBoards(deps, DUE, nobody)
    expect(rowOf(mailTo('owner@x.io').text, '7')).toEqual(['–', HOSTILE])
    const { text } = mailTo('read-only@x.io')
    expect(text).toContain('Your role in this business does not show this chart.')
    expect(text).not.toContain(HOSTILE)
  })

  it('that a query is gone', async () => {
    const id = await createBoard([EVENTS], [ids.owner])
    const charts = JSON.stringify([
      {
        id,
        title: 'Gone',
        kind: 'sql',
        query: { queryId: id },
        days: null,
        page: 'sql',
        size: 'half',
        needs: 'sql:run',
      },
    ])
    await service.sql`update boards set charts = ${charts}::text::jsonb where id = ${id}`
    await sendDueBoards(deps, DUE, nobody)
    expect(mailTo('owner@x.io').text).toContain('This chart can no longer be read')
  })

  it('nothing of people to those who may not see them', async () => {
    await track('ann', 'signup', '2026-03-05T12:00:00Z', { properties: { plan: 'Secret plan' } })
    await service.shipped()
    const charts = [{ title: 'Plans', kind: 'series', query: { breakdown: 'property:plan' }, days: 7 }, EVENTS]
    await createBoard(charts, [ids.analyst, ids['read-only']])
    await sendDueBoards(deps, DUE, nobody)
    expect(heardBy()).toEqual(['analyst@x.io', 'read-only@x.io'])
    expect(mailTo('analyst@x.io').text).toContain('Secret plan')
    const { text, html } = mailTo('read-only@x.io')
    expect(text + html).not.toContain('Secret plan')
    expect(text).toContain('Your role in this business does not show this chart.')
    expect(rowOf(text, 'Events all events')).toEqual(['1', '0', '–'])
  })

  it.each([
    ['de', 'letzte Woche', 'dir="ltr"'],
    ['he', 'השבוע שעבר', 'dir="rtl"'],
    ['xx', 'Last week', 'dir="ltr"'],
  ])('it in the language of the person: %s', async (language, words, direction) => {
    await service.sql`update users set language = ${language} where id = ${ids.owner}`
    await createBoard([EVENTS], [ids.owner])
    await sendDueBoards(deps, DUE, nobody)
    const { text, html } = mailTo('owner@x.io')
    expect(text.toLowerCase()).toContain(words.toLowerCase())
    expect(html).toContain(direction)
    await service.sql`update users set language = null`
  })
})

describe('is sent', () => {
  it('on Mondays from 08:00 on, once a week', async () => {
    await createBoard([EVENTS], [ids.owner, ids.marketer])
    await sendDueBoards(deps, DUE - 1, nobody)
    expect(heardBy()).toEqual([])
    await sendDueBoards(deps, DUE, nobody)
    await sendDueBoards(deps, DUE + 3_600_000, nobody)
    expect(heardBy()).toEqual(['marketer@x.io', 'owner@x.io'])
    await sendDueBoards(deps, DUE + 7 * 86_400_000, nobody)
    expect(heardBy().length).toBe(4)
  })

  it('later on Monday when nothing ran at 08:00, and not on Tuesday', async () => {
    await createBoard([EVENTS], [ids.owner])
    await sendDueBoards(deps, DUE + 16 * 3_600_000, nobody)
    expect(heardBy()).toEqual([])
    await sendDueBoards(deps, DUE + 16 * 3_600_000 - 1, nobody)
    expect(heardBy()).toEqual(['owner@x.io'])
  })

  it('once, whichever of many front doors is first', async () => {
    for (const name of ['a', 'b', 'c']) await createBoard([EVENTS], [ids.owner, ids.analyst], name)
    const connections = Array.from({ length: 4 }, () => connectPostgres(service.databaseUrl, { max: 2 }))
    const senders = await Promise.all(connections.map((sql) => depsFor(server.port, { sql })))
    await Promise.all(senders.flatMap((one) => [sendDueBoards(one, DUE, nobody), sendDueBoards(one, DUE + 1, nobody)]))
    await sendDueBoards(deps, DUE + 2, nobody)
    expect(heardBy()).toEqual([...Array<string>(3).fill('analyst@x.io'), ...Array<string>(3).fill('owner@x.io')])
    await Promise.all(connections.map((sql) => sql.end()))
  })

  it('to nobody while it is off, the business is not active, or the person has left', async () => {
    const id = await createBoard([EVENTS], [ids.owner, ids.analyst])
    const { sql } = service
    await sql`update boards set is_weekly = false where id = ${id}`
    await sendDueBoards(deps, DUE, nobody)
    await sql`update boards set is_weekly = true where id = ${id}`
    await sql`update businesses set active = false where id = ${business.businessId}`
    await sendDueBoards(deps, DUE, nobody)
    await sql`update businesses set active = true where id = ${business.businessId}`
    await sql`delete from memberships where business_id = ${business.businessId} and user_id = ${ids.analyst}`
    expect(heardBy()).toEqual([])
    await sendDueBoards(deps, DUE, nobody)
    expect(heardBy()).toEqual(['owner@x.io'])
  })

  it('by another front door when one has died while it composed, and by none when it has died while it sent', async () => {
    const id = await createBoard([EVENTS], [ids.owner, ids.analyst])
    const { sql } = service
    await sql`update boards set composing_until = now() + interval '10 minutes' where id = ${id}`
    await sendDueBoards(deps, DUE, nobody)
    expect(heardBy()).toEqual([])
    await sql`update boards set composing_until = now() - interval '1 second' where id = ${id}`
    await sql`
      insert into board_mails (business_id, board_id, week, user_id, state)
      values (${business.businessId}, ${id}, ${MONDAY}, ${ids.analyst}, 'sending')`
    await sendDueBoards(deps, DUE, nobody)
    await sendDueBoards(deps, DUE + 3_600_000, nobody)
    expect(heardBy()).toEqual(['owner@x.io'])
  })

  it('also when a chart takes too long', async () => {
    await createBoard([EVENTS], [ids.owner])
    const slow = new ClickHouseError({ message: 'too slow', code: '159', type: 'TIMEOUT_EXCEEDED' })
    await sendDueBoards({ ...deps, clickhouse: failWith(slow) }, DUE, nobody)
    expect(mailTo('owner@x.io').text).toContain('This chart takes too long for a mail.')
  })

  it('later when ClickHouse is away', async () => {
    await createBoard([EVENTS], [ids.owner])
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    await sendDueBoards({ ...deps, clickhouse: failWith(refused) }, DUE, nobody)
    expect(heardBy()).toEqual([])
    await sendDueBoards(deps, DUE, nobody)
    expect(heardBy()).toEqual([])
    await service.sql`update boards set composing_until = composing_until - interval '5 minutes'`
    await sendDueBoards(deps, DUE, nobody)
    expect(heardBy()).toEqual(['owner@x.io'])
  }, 60_000)

  it('to the others when the mails of one board cannot be composed', async () => {
    const broken = await createBoard([EVENTS], [ids.owner], 'a')
    await createBoard([EVENTS], [ids.analyst], 'b')
    await service.sql`update boards set charts = '[{"kind":"no such"}]' where id = ${broken}`
    await sendDueBoards(deps, DUE, nobody)
    expect(heardBy()).toEqual(['analyst@x.io'])
  })

  it('however many boards before it fail', async () => {
    const { businessId } = business
    await service.sql`
      insert into boards (business_id, id, name, place, charts, is_weekly)
      select ${businessId}, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'broken ' || n, n,
        '[{"kind":"no such"}]', true
      from generate_series(1, 20) as n`
    await service.sql`
      insert into board_recipients (business_id, board_id, user_id)
      select business_id, id, ${ids.analyst} from boards where business_id = ${businessId}`
    await createBoard([EVENTS], [ids.owner])
    await sendDueBoards(deps, DUE, nobody)
    await sendDueBoards(deps, DUE, nobody)
    expect(heardBy()).toEqual(['owner@x.io'])
  })
})

/** Every query fails. */
function failWith(error: Error): MailDeps['clickhouse'] {
  const query = () => {
    throw error
  }
  return new Proxy(service.clickhouse, {
    get: (target, key) => (key === 'query' ? query : (Reflect.get(target, key) as unknown)),
  })
}

describe('when the mail server', () => {
  const stateOf = async () => {
    const [row] = await service.sql<{ state: string; attempts: number }[]>`select state, attempts from board_mails`
    return row
  }
  const wait = () => service.sql`update board_mails set changed_at = now() - interval '6 minutes'`

  it('refuses it, it is tried a second time some minutes later, and not a third time', async () => {
    await createBoard([EVENTS], [ids.owner])
    const refusing = await openScriptedServer({ RCPT: '550 no such mailbox' })
    const sender = await depsFor(refusing.port)
    await sendDueBoards(sender, DUE, nobody)
    await sendDueBoards(sender, DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'failed', attempts: 1 })
    await wait()
    await sendDueBoards(sender, DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'failed', attempts: 2 })
    await wait()
    await sendDueBoards(sender, DUE, nobody)
    expect(refusing.commands.filter((one) => one.startsWith('RCPT')).length).toBe(2)
    await refusing.close()
  })

  it('greets by a refusal, the second attempt can succeed', async () => {
    await createBoard([EVENTS], [ids.owner])
    const busy = await openScriptedServer({ greeting: '421 too busy' })
    await sendDueBoards(await depsFor(busy.port), DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'failed', attempts: 1 })
    await busy.close()
    await wait()
    await sendDueBoards(deps, DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'sent', attempts: 2 })
    expect(heardBy()).toEqual(['owner@x.io'])
  })

  it('does not greet in time, it is tried again; does not answer in time after the mail, it may have it', async () => {
    await createBoard([EVENTS], [ids.owner])
    const silent = await openScriptedServer({ greeting: 'say nothing' })
    // Only the wait that is tested is short, so that nothing else times out on a busy machine.
    const long = { connectionTimeout: PATIENCE_MS, greetingTimeout: PATIENCE_MS, socketTimeout: PATIENCE_MS }
    const patience = { ...long, greetingTimeout: 500 }
    await sendDueBoards(await depsFor(silent.port, { patience }), DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'failed', attempts: 1 })
    await silent.close()
    await wait()
    const slow = await openScriptedServer({ message: 'say nothing' })
    await sendDueBoards(await depsFor(slow.port, { patience: { ...long, socketTimeout: 2000 } }), DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'unknown', attempts: 2 })
    await slow.close()
  })

  it('is away, the second attempt can succeed', async () => {
    await createBoard([EVENTS], [ids.owner])
    await sendDueBoards(await depsFor(1), DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'failed', attempts: 1 })
    await wait()
    await sendDueBoards(deps, DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'sent', attempts: 2 })
    expect(heardBy()).toEqual(['owner@x.io'])
  })

  it('breaks off after the mail, it may have it: it is not sent again', async () => {
    await createBoard([EVENTS], [ids.owner])
    const breaking = await openScriptedServer({ message: 'hang up' })
    await sendDueBoards(await depsFor(breaking.port), DUE, nobody)
    expect(await stateOf()).toEqual({ state: 'unknown', attempts: 1 })
    await wait()
    await sendDueBoards(deps, DUE, nobody)
    expect(heardBy()).toEqual([])
    expect(breaking.messages()).toBe(1)
    await breaking.close()
  })
})

it('forgets the mails of weeks that are long over', async () => {
  const id = await createBoard([EVENTS], [ids.owner])
  await service.sql`
    insert into board_mails (business_id, board_id, week, user_id, state)
    select ${business.businessId}, ${id}, ${MONDAY}::date - n * 7, ${ids.owner}, 'sent' from generate_series(1, 20) as n`
  await sendDueBoards(deps, DUE, nobody)
  const [{ n }] = await service.sql<[{ n: number }]>`select count(*)::int as n from board_mails`
  expect(n).toBe(9)
})

it('the language is that in which the person last used the dashboard', async () => {
  await service.sql`update sessions set seen_at = now() - interval '1 hour' where user_id = ${ids.owner}`
  const headers = { 'Sec-Fetch-Site': 'same-origin', Cookie: `${owner.cookie()}; sluice_language=he` }
  await owner.send('GET', `/b/${business.businessId}/boards`, undefined, headers)
  await createBoard([EVENTS], [ids.owner])
  await sendDueBoards(deps, DUE, nobody)
  expect(mailTo('owner@x.io').text).toContain('השבוע שעבר')
  await service.sql`update users set language = null`
})
