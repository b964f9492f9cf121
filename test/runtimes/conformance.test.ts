// @long
/**
 * Front door, workers and `admin` run from the same sources on Bun, Deno and Node: each is started for real and used
 * over HTTP.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { writeToken } from '../../src/messages/unsubscribe/token.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { BROWSER, type Speak, speakTo } from '../front-door/http-client.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { KEEPS_WEB_EVENTS } from '../support/keep-web-events.ts'
import { type Stack, openStack } from '../support/stack.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

describe.each(Object.keys(RUNTIMES))('on %s', (runtime) => {
  let stack: Stack
  let speak: Speak
  let key: string
  const running: ChildProcess[] = []

  function start(...words: string[]): ChildProcess {
    const [command, ...args] = RUNTIMES[runtime]!
    const { databaseUrl, redisUrl, clickhouseUrl } = stack
    const env = {
      ...process.env,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      CLICKHOUSE_URL: clickhouseUrl,
      ...KEEPS_WEB_EVENTS,
      PORT: '0',
      HOST: '127.0.0.1',
      ANSWER_TIMEOUT_MS: '60000',
      DRAIN_MS: '0',
    }
    const child = spawn(command, [...args, CLI, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.push(child)
    return child
  }

  async function admin(...words: string[]): Promise<Record<string, string>> {
    const child = start('admin', ...words, '--json')
    let [out, err] = ['', '']
    child.stdout?.on('data', (text) => (out += String(text)))
    child.stderr?.on('data', (text) => (err += String(text)))
    await once(child, 'close')
    expect([child.exitCode, err]).toEqual([0, ''])
    return JSON.parse(out) as Record<string, string>
  }

  async function urlOf(frontDoor: ChildProcess): Promise<string> {
    let complaint = ''
    frontDoor.stderr?.on('data', (text) => (complaint += String(text)))
    for await (const line of createInterface({ input: frontDoor.stdout! })) {
      const logged = JSON.parse(line) as { url?: string }
      if (logged.url) return logged.url
    }
    throw new Error(`the front door ended before it was open: ${complaint}`)
  }

  beforeAll(async () => {
    stack = await openStack()
    const { businessId } = await admin('business', 'create', '--name', 'Conformance', '--country', 'IL')
    key = (await admin('key', 'create', '--business', businessId!, '--kind', 'secret'))['key']!
    start('workers').stdout?.resume()
    const frontDoor = start('serve')
    speak = speakTo(await urlOf(frontDoor))
    await vi.waitUntil(async () => (await speak('GET', '/readyz')).status === 200, { timeout: PATIENCE_MS })
  })
  afterAll(async () => {
    for (const child of running) if (child.exitCode === null) child.kill('SIGKILL')
    await stack.close()
  })

  const ask = async (method: string, path: string, json?: unknown) => {
    const answer = await speak(method, path, { key, ...(json === undefined ? {} : { json }) })
    return { status: answer.status, ...answer.body.data }
  }

  it('takes an event, a repeat, a batch and an identify, and reads them back', async () => {
    const event = {
      event: 'lesson.finished',
      identity: { email: 'Ann@X.io', phone: '054-123-4567' },
      value: 10.5,
      idempotencyKey: 'k1',
      traits: { level: 3, since: '2026-01-01' },
      properties: { text: 'שלום 👋' },
    }
    const first = await ask('POST', '/api/sdk/track', event)
    expect(first).toMatchObject({ status: 200, isNew: true, interpreted: { type: 'purchase', countedRevenue: 10.5 } })
    const contactId = (first as unknown as { contactId: string }).contactId
    expect(await ask('POST', '/api/sdk/track', event)).toMatchObject({ status: 200, contactId, deduped: true })

    const events = [
      { event: 'lesson.finished', identity: { email: 'ann@x.io' }, occurredAt: '2001-02-03' },
      { event: 'lesson.finished', identity: {} },
    ]
    expect(await ask('POST', '/api/sdk/track/batch', { events })).toMatchObject({ status: 200, recorded: 1, failed: 1 })
    const profile = { name: 'Ann Lee', timezone: 'Asia/Jerusalem', language: 'he' }
    expect(await ask('POST', '/api/sdk/identify', { identity: { phone: '+972541234567' }, profile })).toMatchObject({
      status: 200,
      contactId,
      isNew: false,
    })

    const { contact } = (await ask('GET', `/api/contacts/${contactId}`)) as unknown as { contact: object }
    expect(contact).toMatchObject({
      firstName: 'Ann',
      lastName: 'Lee',
      timezone: 'Asia/Jerusalem',
      customFields: { level: 3, since: '2026-01-01' },
      revenue: { total: 10.5, currency: 'USD' },
      identities: { email: ['ann@x.io'], phone: ['+972541234567'] },
      events: [{ event: 'lesson.finished', firstAt: '2001-02-03T00:00:00.000Z', count: 2 }],
    })
    expect(await ask('GET', `/api/contacts/${contactId}/timeline`)).toMatchObject({
      status: 200,
      events: [{ properties: { text: 'שלום 👋' } }, { occurredAt: '2001-02-03T00:00:00.000Z', source: 'batch' }],
    })
  })

  it('compiles, renders and refuses templates, and ends one that hangs', async () => {
    const mjml =
      '<mjml><mj-body><mj-section><mj-column><mj-text>Hi {{contact.lastName}}</mj-text></mj-column></mj-section></mj-body></mjml>'
    const template = { name: 'Welcome', channel: 'email', defaultLanguage: 'en' }
    const make = (en: object) => ask('POST', '/api/templates', { ...template, variants: { en } })
    const idOf = (made: object) => (made as { template: { templateId: string } }).template.templateId
    const id = idOf(await make({ subject: 'Hello {{contact.firstName}}', mjml }))
    const preview = (templateId: string, event?: object) =>
      ask('POST', `/api/templates/${templateId}/preview`, { event })
    const message = { subject: 'Hello there', html: expect.stringContaining('Hi ') as string, text: 'Hi' }
    expect(await preview(id)).toMatchObject({ status: 200, message })
    expect(await make({ subject: '{{ contact.nickname }}', mjml })).toMatchObject({ status: 400 })
    const hangs = '{{ event.properties.list | where_exp: "one", "event.properties.list contains one" | size }}'
    const slow = idOf(await make({ subject: 's', text: hangs }))
    const list = Array.from({ length: 20_000 }, (_, n) => `${n}`)
    expect(await preview(slow, { name: 'e', properties: { list } })).toMatchObject({ status: 400 })
    expect(await preview(id)).toMatchObject({ status: 200, message })
  })

  it('refuses what it should, with the right status', async () => {
    const identity = { email: 'ann@x.io' }
    const statuses = await Promise.all([
      speak('POST', '/api/sdk/track', { json: {} }),
      speak('POST', '/api/sdk/track', { key, json: { event: 'e' } }),
      speak('POST', '/api/sdk/track', { key, raw: '{', headers: { 'content-type': 'application/json' } }),
      speak('POST', '/api/sdk/track', { key, raw: 'x', headers: { 'content-type': 'text/plain' } }),
      speak('POST', '/api/sdk/track', { key, json: { event: 'e', identity, filler: 'x'.repeat(300_000) } }),
      speak('OPTIONS', '/api/sdk/track'),
      speak('GET', '/nowhere'),
    ])
    expect(statuses.map((answer) => answer.status)).toEqual([401, 400, 400, 415, 413, 405, 404])
  })

  it('keeps what a visitor does until they are identified; a bot gets the same answer', async () => {
    const visitorId = '5'.repeat(32)
    const act = async (headers: Record<string, string>) =>
      (await speak('POST', '/api/sdk/browser/track', { key, json: { event: 'demo', visitorId }, headers })).body.data
    const unknown = { contactId: null, deduped: false }
    expect([await act({ 'user-agent': 'Googlebot/2.1' }), await act(BROWSER)]).toMatchObject([unknown, unknown])
    const cat = await ask('POST', '/api/sdk/identify', { identity: { email: 'cat@x.io' }, visitorId })
    const { contactId } = cat as unknown as { contactId: string }
    expect(await act(BROWSER)).toMatchObject({ contactId })
    const { contact } = (await ask('GET', `/api/contacts/${contactId}`)) as unknown as { contact: object }
    expect(contact).toMatchObject({ events: [{ event: 'demo', count: 2 }], visitors: [{ visitorId }] })
  })

  it('serves the browser script, packed, once', async () => {
    const packed = { headers: { 'accept-encoding': 'gzip' } }
    const first = await speak('GET', '/sluice.js', packed)
    expect([first.status, first.headers.get('content-encoding')]).toEqual([200, 'gzip'])
    expect(first.text).toContain('data-business')
    const etag = first.headers.get('etag') ?? ''
    expect((await speak('GET', '/sluice.js', { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await speak('HEAD', '/sluice.js', packed)).headers.get('etag')).toBe(etag)
  })

  it('unsubscribes by a form in each encoding, and keeps and lifts suppressions', async () => {
    const { contactId } = (await ask('POST', '/api/sdk/identify', { identity: { email: 'dan@x.io' } })) as unknown as {
      contactId: string
    }
    await ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email: true, sms: true, push: true, method: 'form' })
    const [row] = await stack.sql<{ businessId: string }[]>`
      select business_id as "businessId" from contacts where id = ${contactId}`
    const messageKey = await loadMessageKey(stack.sql)
    const link = `/u/${writeToken(messageKey, { businessId: row?.businessId ?? '', contactId, channel: 'email' })}`
    expect((await speak('HEAD', link)).status).toBe(200)
    const raw = '--b\r\nContent-Disposition: form-data; name="end"\r\n\r\nsms\r\n--b--\r\n'
    const posted = [
      await speak('POST', link, { raw, headers: { 'content-type': 'multipart/form-data; boundary=b' } }),
      await speak('POST', link, { raw: 'end=push', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      await speak('POST', link),
      await speak('POST', link, { raw: 'x', headers: { 'content-type': 'multipart/form-data; boundary=b' } }),
      await speak('POST', `${link}A`),
    ]
    expect(posted.map(({ status }) => status)).toEqual([200, 200, 200, 400, 404])
    const { contact } = (await ask('GET', `/api/contacts/${contactId}`)) as unknown as { contact: object }
    expect(contact).toMatchObject({ subscriptions: { email: false, sms: false, push: false } })
    const suppressions = [
      { channel: 'email', address: 'dan@x.io' },
      { channel: 'sms', address: '054-123-4567' },
    ]
    expect(await ask('POST', '/api/suppressions', { suppressions })).toMatchObject({ status: 200, added: 2 })
    expect(await ask('DELETE', '/api/suppressions?reason=manual')).toMatchObject({ status: 200, lifted: 2 })
  })

  it('is well, and ends on SIGTERM', async () => {
    expect((await speak('GET', '/readyz')).status).toBe(200)
    const [workers, frontDoor] = running.slice(-2)
    for (const child of [frontDoor!, workers!]) {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      expect(child.exitCode).toBe(0)
    }
  })
})
