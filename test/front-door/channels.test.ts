/** Channels over HTTP (campaigns, "Channels"). */
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { ChannelData, ChannelsData, LogData, TestData } from '../../src/front-door/routes/channels/schemas.ts'
import { MAX_LOGGED } from '../../src/messages/channels/logged-messages.ts'
import { MAX_TESTS_A_DAY } from '../../src/messages/channels/send-test.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { openPlatform } from '../deliveries/platform.ts'
import { type MailServer, openMailServer, openScriptedServer } from '../messages/channels/mail-server.ts'
import { type Service, openService, startService } from '../support/service.ts'
import { type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'

let service: Service
let speak: Speak
let tenant: TestBusiness
let mails: MailServer
beforeAll(async () => {
  service = await openService({ PUBLIC_URL: 'https://mail.example.com/', SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' })
  speak = speakTo(service.url)
  mails = await openMailServer()
})
afterAll(async () => {
  await service.close()
  await mails.close()
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { name: 'Test\r\nBcc: all@x.io', rateLimit: 100_000 })
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]
const pathsOf = ({ body }: Answer) => body.error?.issues?.map(({ path }) => path)
const put = (channel: string, settings: object) => ask('PUT', `/api/channels/${channel}`, settings)
const shown = (answer: Answer) => dataOf(ChannelData, answer)['channel'] as Record<string, unknown>
const tried = async (channel: string, body: object) =>
  dataOf(TestData, await ask('POST', `/api/channels/${channel}/test`, body))
const readLog = async (channel: string) =>
  dataOf(LogData, await ask('GET', `/api/channels/${channel}/log`))['messages'] as Record<string, unknown>[]
const smtp = (more: object = {}) => ({
  provider: 'smtp',
  host: '127.0.0.1',
  port: mails.port,
  sender: 'Shop <hello@shop.example>',
  ...more,
})
const NO_LIMITS = { perSecond: null, dailyBudget: null, reserve: 0 }
const NOT_PAUSED = { pausedAt: null, pauseReason: null }
const LOGIN = { user: 'shop', password: 'open sesame' }

async function auditOf(businessId: string) {
  const rows = await service.sql<{ action: string; target: string; details: object }[]>`
    select action, target, details from audit_log where business_id = ${businessId} and action like 'channel.%' order by id`
  return rows.map(({ action, target, details }) => [action, target, details])
}

describe('what waits for a turn of the channel', () => {
  it.each([
    ['PUT', { provider: 'log', perSecond: 5 }, true],
    ['DELETE', undefined, true],
    ['PUT', { provider: 'log', perSecond: 0 }, false],
  ])('is looked at again after %s %j: %s', async (method, settings, isSaved) => {
    await put('email', { provider: 'log', perSecond: 1 })
    const later = Date.now() + 3_600_000
    const heldBy = JSON.stringify({ type: 'per_second', channel: 'email', perSecond: 1 })
    await service.sql`
      insert into due_steps (business_id, enrolment_id, contact_id, campaign_id, version, step, began_at, due_at, held_by, held)
      values (${tenant.businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 'a', 1, ${later},
        ${heldBy}::text::jsonb, false)`
    await ask(method, '/api/channels/email', settings)
    const [row] = await service.sql<{ due_at: number }[]>`
      delete from due_steps where business_id = ${tenant.businessId} returning due_at`
    expect(row!.due_at < later).toBe(isSaved)
  })
})

describe('a channel', () => {
  it('is the log until it is set up, and again when its settings are deleted', async () => {
    const unset = (channel: string) => ({
      channel,
      provider: 'log',
      ...NO_LIMITS,
      ...NOT_PAUSED,
      secrets: [],
      updatedAt: null,
    })
    const all = ['email', 'sms', 'whatsapp', 'push', 'webhook'].map(unset)
    expect(dataOf(ChannelsData, await ask('GET', '/api/channels'))).toEqual({ channels: all })
    const saved = shown(await put('email', smtp({ ...LOGIN, replyTo: 'help@shop.example', port: 465 })))
    expect(saved).toEqual({
      channel: 'email',
      provider: 'smtp',
      host: '127.0.0.1',
      port: 465,
      secure: true,
      user: 'shop',
      sender: 'Shop <hello@shop.example>',
      replyTo: 'help@shop.example',
      ...NO_LIMITS,
      ...NOT_PAUSED,
      secrets: ['password'],
      updatedAt: expect.any(String) as string,
    })
    expect(shown(await ask('GET', '/api/channels/email'))).toEqual(saved)
    const { channels } = dataOf(ChannelsData, await ask('GET', '/api/channels'))
    expect(channels).toEqual([saved, ...all.slice(1)])
    expect(shown(await ask('DELETE', '/api/channels/email'))).toEqual(unset('email'))
    expect(shown(await ask('DELETE', '/api/channels/email'))).toEqual(unset('email'))
    expect(await auditOf(tenant.businessId)).toEqual([
      [
        'channel.save',
        'email',
        { provider: 'smtp', changed: ['host', 'port', 'user', 'sender', 'replyTo', 'password'] },
      ],
      ['channel.remove', 'email', {}],
    ])
  })

  it('that is paused says so, and goes on when it is resumed', async () => {
    await put('email', smtp(LOGIN))
    expect(shown(await ask('POST', '/api/channels/email/resume'))).toMatchObject(NOT_PAUSED)
    const paused = { pausedAt: '2026-03-01T09:30:00.120Z', pauseReason: 'Of 20 messages, 20 were refused' }
    await service.sql`
      update channels set paused_at = ${Date.parse(paused.pausedAt)}, pause_reason = ${paused.pauseReason}
      where business_id = ${tenant.businessId}`
    expect(shown(await ask('GET', '/api/channels/email'))).toMatchObject(paused)
    expect(shown(await ask('POST', '/api/channels/email/resume'))).toMatchObject(NOT_PAUSED)
    expect(shown(await ask('GET', '/api/channels/email'))).toMatchObject(NOT_PAUSED)
    expect((await auditOf(tenant.businessId)).slice(1)).toEqual([['channel.resume', 'email', {}]])
    expect(code(await ask('POST', '/api/channels/fax/resume'))).toEqual([404, 'not_found'])
  })

  it('has its secrets sealed, for itself alone, and never shows them', async () => {
    await put('email', smtp(LOGIN))
    await put('webhook', { provider: 'webhook', url: 'https://crm.example/in', secret: 'a-secret-of-sixteen' })
    const [row] = await service.sql<{ all: string }[]>`
      select json_agg(c)::text || (select json_agg(a)::text from audit_log a) as all from channels c`
    const answers = await Promise.all(['', '/email', '/webhook'].map((path) => ask('GET', `/api/channels${path}`)))
    for (const secret of ['open sesame', 'a-secret-of-sixteen'])
      expect([row?.all, ...answers.map(({ text }) => text)].join('\n')).not.toContain(secret)
    expect(await tried('email', { to: 'ada@example.com' })).toMatchObject({ accepted: true })
    expect(mails.heard.at(-1)?.user).toBe('shop')
    // Secrets that are moved to another business cannot be opened.
    const other = await createBusiness(service.sql)
    await service.sql`
      insert into channels select ${other.businessId}, channel, provider, settings, secret, revision from channels
      where business_id = ${tenant.businessId} and channel = 'email'`
    tenant = other
    expect(code(await ask('POST', '/api/channels/email/test', { to: 'ada@example.com' }))).toEqual([503, 'unavailable'])
  })

  it('keeps a secret that is left out, but for the same recipient alone', async () => {
    await put('email', smtp(LOGIN))
    const { user } = LOGIN
    expect(shown(await put('email', smtp({ user, sender: 'new@shop.example' })))).toMatchObject({
      secrets: ['password'],
    })
    expect(await tried('email', { to: 'ada@example.com' })).toMatchObject({ accepted: true })
    expect(mails.heard.at(-1)).toMatchObject({ user: 'shop', from: 'new@shop.example' })
    for (const other of [{ host: 'evil.example' }, { port: 2525 }, { user: 'other' }])
      expect(pathsOf(await put('email', smtp({ user, ...other })))).toEqual(['password'])
    expect(shown(await put('email', smtp()))).toMatchObject({ secrets: [] })
    expect(pathsOf(await put('email', smtp({ user })))).toEqual(['password'])
    const hook = (more: object) => put('webhook', { provider: 'webhook', ...more })
    await hook({ url: 'https://crm.example/in', secret: 'a-secret-of-sixteen' })
    expect((await hook({ url: 'https://crm.example/other' })).status).toBe(200)
    expect(pathsOf(await hook({ url: 'https://evil.example/in' }))).toEqual(['secret'])
    // Unchanged.
    expect(shown(await ask('GET', '/api/channels/webhook'))).toMatchObject({ url: 'https://crm.example/other' })
  })

  it('has limits beside the settings of any provider, and a change of one is in the audit log', async () => {
    const most = { perSecond: 10_000, dailyBudget: 1_000_000_000 }
    expect(shown(await put('sms', { provider: 'log', ...most }))).toMatchObject({ provider: 'log', ...most })
    expect(shown(await put('sms', { provider: 'log', perSecond: 1 }))).toMatchObject({
      perSecond: 1,
      dailyBudget: null,
    })
    expect(shown(await put('sms', { provider: 'log', perSecond: null }))).toMatchObject(NO_LIMITS)
    expect((await auditOf(tenant.businessId)).map(([, , details]) => details)).toEqual([
      { provider: 'log', changed: ['perSecond', 'dailyBudget'] },
      { provider: 'log', changed: ['perSecond', 'dailyBudget'] },
      { provider: 'log', changed: ['perSecond'] },
    ])
  })

  it('gets one of two settings that are sent at once, and no mixture', async () => {
    const settings = [1, 2, 3, 4].map((n) => smtp({ host: `127.0.0.${n}`, user: `user${n}`, password: `password${n}` }))
    const answers = await Promise.all(settings.map((one) => put('email', one)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { host, user } = shown(await ask('GET', '/api/channels/email'))
    expect(String(host).at(-1)).toBe(String(user).at(-1))
    expect(await auditOf(tenant.businessId)).toHaveLength(4)
  })

  it('cannot have secrets without SECRETS_KEY', async () => {
    const stack = await openStack()
    const { url, stop } = await startService(stack)
    const { secretKey: key } = await createBusiness(stack.sql)
    const body = { provider: 'smtp', host: 'smtp.example.com', sender: 'a@x.io' }
    const answer = await speakTo(url)('PUT', '/api/channels/email', { key, json: { ...body, ...LOGIN } })
    expect(code(answer)).toEqual([503, 'unavailable'])
    expect((await speakTo(url)('PUT', '/api/channels/email', { key, json: body })).status).toBe(200)
    await stop()
    await stack.close()
  })
})

describe('a provider by HTTP', () => {
  const sender = 'Shop <hello@shop.example>'
  const PROVIDERS: [string, Record<string, unknown>, string[], string[]][] = [
    ['email', { provider: 'resend', sender }, ['apiKey'], ['webhookSecret']],
    ['email', { provider: 'postmark', sender, webhookUser: 'sluice' }, ['serverToken'], ['webhookPassword']],
    ['email', { provider: 'ses', sender, region: 'eu-central-1', accessKeyId: 'AKIDEXAMPLE' }, ['secretAccessKey'], []],
    ['sms', { provider: 'twilio', accountSid: `AC${'0'.repeat(32)}`, from: '+15005550006' }, ['authToken'], []],
    ['whatsapp', { provider: 'meta', phoneNumberId: '106540352242922' }, ['token'], ['appSecret', 'verifyToken']],
  ]

  it.each(PROVIDERS)(
    '%s %j is set up, tested, and keeps its secrets',
    async (channel, settings, required, optional) => {
      const platform = await openPlatform((response) => void response.writeHead(202).end('{"id":"7"}'))
      const secretsOf = (names: string[]) => Object.fromEntries(names.map((name) => [name, `secret-${name}`]))
      const baseUrl = `${platform.url}/api/`
      const own = { ...settings, baseUrl }
      expect(pathsOf(await put(channel, own))).toEqual(required)
      const saved = shown(await put(channel, { ...own, ...secretsOf(required) }))
      expect(saved).toMatchObject({ ...own, secrets: required })
      const both = shown(await put(channel, { ...own, ...secretsOf(optional) }))
      expect(both['secrets']).toEqual([...required, ...optional])
      expect(shown(await ask('GET', `/api/channels/${channel}`))).toEqual(both)
      const to = channel === 'email' ? 'ada@example.com' : '+972501234567'
      const tested = await tried(channel, { to })
      expect(tested).toMatchObject({ accepted: true, provider: settings['provider'], reason: 'HTTP 202: {"id":"7"}' })
      expect(platform.heard[0]?.path).toMatch(/^\/api\//)
      expect(pathsOf(await put(channel, { ...own, baseUrl: 'https://evil.example' }))).toEqual(required)
      expect(pathsOf(await put(channel, { ...own, baseUrl: 'http://169.254.169.254/latest' }))).toEqual([
        ...required,
        'baseUrl',
      ])
      for (const [name, value] of [
        ['baseUrl', 'ftp://x.io'],
        ['baseUrl', 'https://user@x.io'],
        [required[0] ?? '', 'a b'],
      ])
        expect(pathsOf(await put(channel, { ...own, [name ?? '']: value }))).toEqual([name])
      await platform.close()
    },
  )
})

describe('settings are refused', () => {
  const faultsOf = async (channel: string, settings: unknown) => {
    const answer = await put(channel, settings as object)
    expect(code(answer)).toEqual([400, 'invalid_request'])
    return pathsOf(answer)
  }
  test('with paths', async () => {
    expect(await faultsOf('email', [])).toEqual([''])
    expect(await faultsOf('email', {})).toEqual(['provider'])
    expect(await faultsOf('email', { provider: 'webhook' })).toEqual(['provider'])
    expect(await faultsOf('sms', { provider: 'smtp' })).toEqual(['provider'])
    expect(await faultsOf('email', { provider: 'toString' })).toEqual(['provider'])
    expect(await faultsOf('email', { provider: 'smtp' })).toEqual(['host', 'sender'])
    expect(await faultsOf('email', smtp({ port: 0, user: 'a' }))).toEqual(['port'])
    expect(await faultsOf('email', smtp({ user: 'a' }))).toEqual(['password'])
    expect(await faultsOf('webhook', { provider: 'webhook', url: 'https://x.io' })).toEqual(['secret'])
    expect(await auditOf(tenant.businessId)).toEqual([])
  })

  test('without a word of what was sent', async () => {
    const { text } = await put('email', smtp({ user: 'a', password: `hidden\u0007word` }))
    expect(text).not.toContain('hidden')
  })

  test('with an address that messages may not go to', async () => {
    const hosts = ['10.0.0.5', '169.254.169.254', '192.168.1.1', '100.64.0.1', 'fd00::1', '0.0.0.0', '224.0.0.1']
    for (const host of hosts) {
      const answer = await put('email', smtp({ host }))
      expect([host, pathsOf(answer)]).toEqual([host, ['host']])
      expect(answer.body.message).toContain('is not allowed as a target')
    }
    const stores = [service.databaseUrl, service.redisUrl, service.clickhouseUrl].map((url) =>
      Number(new URL(url).port),
    )
    for (const port of stores) expect(pathsOf(await put('email', smtp({ port })))).toEqual(['host'])
    const url = 'http://169.254.169.254/latest'
    expect(await faultsOf('webhook', { provider: 'webhook', url, secret: 'x'.repeat(16) })).toEqual(['url'])
  })

  test('for a channel that there is not', async () => {
    for (const channel of ['fax', '', 'Email', 'toString'])
      expect(code(await put(channel, { provider: 'log' }))[0]).toBeOneOf([404, 405])
  })
})

describe('a test message', () => {
  const template = async (channel: string, variant: object) => {
    const sent = { name: 'T', channel, variants: { en: variant, de: variant }, defaultLanguage: 'en' }
    const { data } = (await ask('POST', '/api/templates', sent)).body
    return (data['template'] as { templateId: string }).templateId
  }
  const ada = async () => {
    const sent = { identity: { email: 'ada@example.com' }, profile: { firstName: 'Ada', language: 'de' } }
    return String((await ask('POST', '/api/sdk/identify', sent)).body.data['contactId'])
  }

  it('is kept by the log, and can be read', async () => {
    const [contactId, templateId] = [
      await ada(),
      await template('email', { subject: 'Hi {{contact.firstName}}', html: '<p>{{unsubscribeUrl}}</p>' }),
    ]
    const { messageId, ...rest } = await tried('email', { to: ' ada@example.com ', contactId, templateId })
    expect(rest).toEqual({ accepted: true, outcome: 'accepted', provider: 'log' })
    const message = {
      language: 'de',
      subject: 'Hi Ada',
      html: '<p>https://mail.example.com/u/preview</p>',
      text: 'https://mail.example.com/u/preview',
    }
    const loggedAt = expect.any(String) as string
    expect(await readLog('email')).toEqual([{ messageId, contactId, to: 'ada@example.com', message, loggedAt }])
    expect(await tried('email', { to: 'ada@example.com', contactId, templateId, language: 'en' })).toMatchObject({
      accepted: true,
    })
    expect(await readLog('email')).toMatchObject([{ message: { language: 'en' } }, { messageId }])
    expect(await auditOf(tenant.businessId)).toEqual([
      ['channel.test', 'email', { provider: 'log', templateId, contactId, outcome: 'accepted' }],
      ['channel.test', 'email', { provider: 'log', templateId, contactId, outcome: 'accepted' }],
    ])
  })

  it('goes to each channel without a template, and its address is read', async () => {
    const sent: [string, object, string | null][] = [
      ['email', { to: 'ada@example.com' }, 'ada@example.com'],
      ['sms', { to: '+972 50-123 4567' }, '+972501234567'],
      ['whatsapp', { to: '+972501234567' }, '+972501234567'],
      ['push', {}, null],
      ['webhook', {}, null],
    ]
    for (const [channel, body, to] of sent) {
      expect(await tried(channel, body)).toMatchObject({ accepted: true })
      expect(await readLog(channel)).toMatchObject([{ to, contactId: null }])
    }
    expect(await readLog('webhook')).toMatchObject([
      { message: { body: '{"type":"test","message":"This is a test message of Test Bcc: all@x.io."}' } },
    ])
  })

  it('shows what Postgres cannot store as a replacement', async () => {
    const templateId = await template('sms', { text: '{{ "%00" | url_decode }}' })
    await tried('sms', { to: '+972501234567', templateId })
    expect(await readLog('sms')).toMatchObject([{ message: { text: '\uFFFD' } }])
  })

  it('is listed by pages, and the newest 1,000 are kept', async () => {
    for (let n = 0; n < 5; n += 1) await tried('push', { to: String(n) })
    const found: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = dataOf(LogData, await ask('GET', `/api/channels/push/log?limit=2${cursor && `&cursor=${cursor}`}`))
      found.push(...(page['messages'] as { to: string }[]).map(({ to }) => to))
      cursor = page['nextCursor'] as string | null
    }
    expect(found).toEqual(['4', '3', '2', '1', '0'])
    expect(code(await ask('GET', '/api/channels/push/log?cursor=x'))).toEqual([400, 'invalid_request'])
    await service.sql`
      insert into logged_messages (business_id, channel, id, message)
      select ${tenant.businessId}, 'push', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '{"language":"en"}'
      from generate_series(1, ${MAX_LOGGED - 5}) n`
    const held = async () => {
      const [row] = await service.sql<{ many: number; oldest: string }[]>`
        select count(*)::int as many, min(id::text) as oldest from logged_messages where business_id = ${tenant.businessId}`
      return [row?.many, Number(row?.oldest.slice(-12))]
    }
    expect(await held()).toEqual([MAX_LOGGED, 1])
    await tried('push', {})
    expect(await held()).toEqual([MAX_LOGGED, 2])
  })

  it('goes to no suppressed address of its channel', async () => {
    const suppressions = [
      { channel: 'email', address: 'Eve@Example.com' },
      { channel: 'sms', address: '+972541234567' },
    ]
    await ask('POST', '/api/suppressions', { suppressions })
    const send = (channel: string, to: string) => ask('POST', `/api/channels/${channel}/test`, { to })
    for (const [channel = '', to = ''] of [
      ['email', 'eve@EXAMPLE.com'],
      ['sms', '+972 54 123 4567'],
    ]) {
      const answer = await send(channel, to)
      expect([code(answer), pathsOf(answer)]).toEqual([[400, 'invalid_request'], ['to']])
      expect(await readLog(channel)).toEqual([])
    }
    expect((await send('whatsapp', '+972541234567')).status).toBe(200)
    await ask('DELETE', '/api/suppressions?reason=manual')
    expect((await send('email', 'eve@example.com')).status).toBe(200)
  })

  it('goes through a mail server, and its answer is shown', async () => {
    await put('email', smtp())
    const templateId = await template('email', { subject: 'Hi {{contact.firstName}}', text: 'Hello' })
    expect(await tried('email', { to: 'ada@example.com', templateId, contactId: await ada() })).toMatchObject({
      accepted: true,
      outcome: 'accepted',
      provider: 'smtp',
      reason: expect.stringMatching(/^250 /) as string,
    })
    expect(mails.heard.at(-1)).toMatchObject({
      to: ['ada@example.com'],
      raw: expect.stringContaining('Subject: Hi Ada') as string,
    })
    expect(await readLog('email')).toEqual([])
    await tried('email', { to: 'ada@example.com' })
    expect(mails.heard.at(-1)?.raw).not.toMatch(/^Bcc/m)
    // The link in a test does not unsubscribe anyone.
    expect(mails.heard.at(-1)?.raw).toContain('List-Unsubscribe: <https://mail.example.com/u/preview>')
    expect(mails.heard.at(-1)?.raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
  })

  it.each([
    [{ RCPT: '550 5.1.1 no such user' }, { accepted: false, outcome: 'refused', reason: '550 5.1.1 no such user' }],
    [{ RCPT: '452 4.2.2 full' }, { accepted: false, outcome: 'temporary', reason: '452 4.2.2 full' }],
    [{ message: 'hang up' }, { accepted: false, outcome: 'unknown' }],
  ])('to a server that answers %j ends with %j', async (script, ending) => {
    const server = await openScriptedServer(script)
    await put('email', smtp({ port: server.port }))
    expect(await tried('email', { to: 'ada@example.com' })).toMatchObject(ending)
    expect(server.messages()).toBe('message' in script ? 1 : 0)
    await server.close()
  })

  it('goes to a webhook, byte for byte', async () => {
    const platform = await openPlatform()
    await put('webhook', { provider: 'webhook', url: `${platform.url}/in`, secret: 'whsec_0123456789abcdef' })
    const templateId = await template('webhook', { body: '{ "name": {{ contact.firstName | json }} }' })
    const { messageId } = await tried('webhook', { templateId, contactId: await ada() })
    expect(platform.heard).toMatchObject([{ body: '{ "name": "Ada" }', headers: { 'webhook-id': messageId } }])
    await platform.close()
  })

  it('is refused with paths', async () => {
    const at = (channel: string, body: object) => ask('POST', `/api/channels/${channel}/test`, body)
    for (const to of [undefined, '', 'ada', 'a@x.io, b@x.io', 'a@x.io\r\nBcc: b@x.io', 'x'.repeat(321)])
      expect([to, pathsOf(await at('email', { to }))]).toEqual([to, ['to']])
    for (const to of [undefined, 'ada@example.com', '12']) expect(pathsOf(await at('sms', { to }))).toEqual(['to'])
    expect(pathsOf(await at('push', { to: 'a\0' }))).toEqual(['to'])
    const to = 'ada@example.com'
    const sms = await template('sms', { text: 'x' })
    expect(pathsOf(await at('email', { to, templateId: sms }))).toEqual(['templateId'])
    const running = await template('email', { subject: 's', text: '{% for i in (1..60000) %}x{% endfor %}' })
    expect(pathsOf(await at('email', { to, templateId: running }))).toEqual(['templateId'])
    for (const templateId of ['x', crypto.randomUUID()])
      expect(code(await at('email', { to, templateId }))).toEqual([404, 'not_found'])
    for (const contactId of ['x', crypto.randomUUID()])
      expect(code(await at('email', { to, contactId }))).toEqual([404, 'not_found'])
    expect(code(await at('fax', { to }))).toEqual([404, 'not_found'])
    expect(await auditOf(tenant.businessId)).toEqual([])
  })

  it(`is one of ${MAX_TESTS_A_DAY} in 24 hours`, async () => {
    await service.sql`
      insert into audit_log (business_id, actor_kind, actor_id, actor_name, action, target, at)
      select ${tenant.businessId}, 'key', 'k', 'k', 'channel.test', 'push', now() - interval '23 hours'
      from generate_series(1, ${MAX_TESTS_A_DAY - 1})`
    const at = () => ask('POST', '/api/channels/push/test', {})
    const [first, second] = await Promise.all([at(), at()])
    expect([first.status, second.status].toSorted((a, b) => a - b)).toEqual([200, 409])
    expect(code(await at())).toEqual([409, 'limit_reached'])
    await service.sql`update audit_log set at = now() - interval '25 hours' where business_id = ${tenant.businessId}`
    expect((await at()).status).toBe(200)
  })

  it('to a person is deleted with the person', async () => {
    const contactId = await ada()
    await tried('email', { to: 'ada@example.com', contactId })
    await tried('email', { to: 'other@example.com' })
    expect((await ask('DELETE', `/api/contacts/${contactId}`)).status).toBe(200)
    expect(await readLog('email')).toMatchObject([{ to: 'other@example.com', contactId: null }])
  })

  it('to a person who was merged becomes the survivor’s', async () => {
    await ada()
    const other = await ask('POST', '/api/sdk/identify', { identity: { phone: '+972501234567' } })
    await tried('email', { to: 'ada@example.com', contactId: String(other.body.data['contactId']) })
    const both = { identity: { email: 'ada@example.com', phone: '+972501234567' } }
    const merged = await ask('POST', '/api/sdk/identify', both)
    expect(await readLog('email')).toMatchObject([{ contactId: merged.body.data['contactId'] }])
  })
})

it('is the business’s own', async () => {
  await put('email', smtp(LOGIN))
  await tried('push', { to: 'mine' })
  tenant = await createBusiness(service.sql)
  expect(shown(await ask('GET', '/api/channels/email'))).toMatchObject({ provider: 'log' })
  expect(await readLog('push')).toEqual([])
})

it('needs a secret key', async () => {
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/email'],
    ['PUT', '/email'],
    ['DELETE', '/email'],
    ['POST', '/email/test'],
    ['GET', '/email/log'],
  ] as const) {
    const at = `/api/channels${path}`
    const json = method === 'PUT' || method === 'POST' ? {} : undefined
    expect(code(await speak(method, at, { json }))).toEqual([401, 'missing_api_key'])
    expect(code(await speak(method, at, { json, key: tenant.publishableKey }))).toEqual([403, 'publishable_key'])
  }
})
