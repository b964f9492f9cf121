/** Tracked addresses over HTTP: where they lead, and what a visit records (campaigns, "Reading"). */
import { hash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { LINK_LIMITS } from '../../src/front-door/access/charge.ts'
import {
  VISITS_A_MINUTE,
  type Visit,
  type VisitBuffer,
  createVisitBuffer,
} from '../../src/front-door/routes/tracking/buffer-visits.ts'
import { createLogger } from '../../src/log.ts'
import { type MessageKey, loadMessageKey } from '../../src/messages/message-key.ts'
import { writeLinkToken } from '../../src/messages/tracking/token.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import type { NewIngestRequest } from '../../src/stream/publish/submit.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { readPeople } from '../support/read-people.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { BROWSER, type Speak, speakTo } from './http-client.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://shop.example', TRUST_PROXY: 'true' }))
let speak: Speak
let key: MessageKey
let tenant: TestBusiness
let sent: { messageId: string; contactId: string; html: string }
beforeAll(async () => {
  speak = speakTo(service.url)
  key = await loadMessageKey(service.sql)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
  sent = await sendMail()
}, PATIENCE_MS)

/** On a busy machine, a call may be refused with 503, and nothing is recorded. */
const ask = (method: string, path: string, json: unknown) =>
  vi.waitFor(
    async () => {
      const answer = await speak(method, path, { key: tenant.secretKey, json })
      expect(answer.status).toBe(200)
      return answer.body.data
    },
    { timeout: PATIENCE_MS },
  )

const HTML = '<a href="https://x.io/one?a=1&amp;b">x</a><a href=\'https://x.io/two\'>y</a>'

/** Sends a mail of a campaign, and returns it from the log of the channel. */
async function sendMail(): Promise<typeof sent> {
  const variants = { en: { subject: 'Hi', html: HTML } }
  const made = await ask('POST', '/api/templates', { name: 'T', channel: 'email', variants, defaultLanguage: 'en' })
  const { templateId: template } = made['template'] as { templateId: string }
  const steps = [{ type: 'send', channel: 'email', template }]
  const { campaign } = await ask('POST', '/api/campaigns', { name: 'C', trigger: { event: 'signup' }, steps })
  await ask('POST', `/api/campaigns/${(campaign as { campaignId: string }).campaignId}/publish`, {})
  const identity = { email: 'ann@x.io' }
  const contactId = String((await ask('POST', '/api/sdk/track', { event: 'seen', identity }))['contactId'])
  await ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email: true, method: 'form' })
  await ask('POST', '/api/sdk/track', { event: 'signup', identity })
  const logged = async () => {
    const [mail] = await service.sql<{ messageId: string; html: string }[]>`
      select id as "messageId", message ->> 'html' as html from logged_messages where business_id = ${tenant.businessId}`
    return mail
  }
  await expect.poll(logged, { timeout: PATIENCE_MS }).toBeDefined()
  return { contactId, ...(await logged())! }
}

const pathOf = (kind: 'c' | 'o', at = 0): string =>
  [...sent.html.matchAll(new RegExp(`https://shop\\.example(/${kind}/[\\w-]+)`, 'g'))][at]?.[1] ?? ''
const visit = (path: string, headers: Record<string, string> = BROWSER, method = 'GET') =>
  fetch(service.url + path, { method, headers, redirect: 'manual' })
/** Waits until earlier visits are recorded, whatever the test does with the clock. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 2600))
const counts = async () => {
  const [person] = await readPeople(service.sql, tenant.businessId)
  return [person?.events['email_opened']?.[2] ?? 0, person?.events['email_clicked']?.[2] ?? 0]
}
const become = (expected: number[]) => expect.poll(counts, { timeout: PATIENCE_MS, interval: 100 }).toEqual(expected)

describe('a link', () => {
  it('leads on at once, and is an event in the timeline', { timeout: PATIENCE_MS }, async () => {
    const answer = await visit(pathOf('c'))
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://x.io/one?a=1&b'])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-robots-tag')).toBe('noindex, nofollow')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    await become([0, 1])
    expect(await timeline('email_clicked')).toMatchObject([
      { properties: { messageId: sent.messageId, url: 'https://x.io/one?a=1&b' } },
    ])
    const [row] = await service.sql`select opened, clicked from messages where id = ${sent.messageId}`
    expect(row).toEqual({ opened: false, clicked: true })
    // On the same day, a repeat is the same event. Another link is another event.
    await visit(pathOf('c'))
    await aWhile()
    await visit(pathOf('c', 1))
    await become([0, 2])
  })

  it('leads nowhere else: a changed one is 404', async () => {
    const token = pathOf('c').slice(3)
    const bytes = Buffer.from(token, 'base64url')
    bytes[40]! ^= 1
    const elsewhere = Buffer.concat([bytes.subarray(0, 32), Buffer.from('https://evil.example/'), bytes.subarray(-18)])
    for (const other of [bytes, elsewhere].map((one) => one.toString('base64url')).concat(`${token}A`, 'preview')) {
      const answer = await visit(`/c/${other}`)
      expect([answer.status, answer.headers.get('location')]).toEqual([404, null])
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect((await visit(`/o/${other}`)).status).toBe(404)
    }
    expect((await visit(`/o/${token}`)).status).toBe(404)
    expect((await visit(`/c/${pathOf('o').slice(3)}`)).status).toBe(404)
    for (const method of ['POST', 'PUT', 'DELETE']) expect((await visit(pathOf('c'), BROWSER, method)).status).toBe(405)
  })

  it('leads on when the message is gone, or was never there', async () => {
    const made = { businessId: tenant.businessId, messageId: crypto.randomUUID(), target: 'https://x.io/gone' }
    const answer = await visit(`/c/${writeLinkToken(key, made)}`)
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://x.io/gone'])
  })

  it('that nobody made is limited by address', async () => {
    const from = { ...BROWSER, 'x-forwarded-for': '203.0.113.9' }
    const answers = await Promise.all(Array.from({ length: LINK_LIMITS.forged + 1 }, () => visit('/o/no', from)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      ...Array<number>(LINK_LIMITS.forged).fill(404),
      429,
    ])
  })
})

describe('an image', () => {
  it('is tiny, is cached by nobody, and is an event', { timeout: PATIENCE_MS }, async () => {
    const answer = await visit(pathOf('o'))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/gif'])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(Buffer.from(await answer.arrayBuffer()).toString('latin1')).toMatch(/^GIF89a.{36}$/s)
    await become([1, 0])
  })
})

describe('a program', () => {
  it(
    'that opens several links at once makes no event, and the image beside them neither',
    { timeout: PATIENCE_MS },
    async () => {
      await Promise.all([visit(pathOf('o')), visit(pathOf('c')), visit(pathOf('c', 1))])
      await aWhile()
      await aWhile()
      expect(await counts()).toEqual([0, 0])
      // A person visits later.
      await visit(pathOf('c', 1))
      await become([0, 1])
    },
  )

  it('is known by its headers, and by HEAD', { timeout: PATIENCE_MS }, async () => {
    for (const [name, value] of [
      ['sec-purpose', 'prefetch;prerender'],
      ['purpose', 'prefetch'],
      ['user-agent', 'Googlebot/2.1'],
    ] as const) {
      const answer = await visit(pathOf('c'), { ...BROWSER, [name]: value })
      expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://x.io/one?a=1&b'])
      expect((await visit(pathOf('o'), { ...BROWSER, [name]: value })).status).toBe(200)
    }
    const head = await visit(pathOf('c'), BROWSER, 'HEAD')
    expect([head.status, head.headers.get('location')]).toEqual([302, 'https://x.io/one?a=1&b'])
    expect((await visit(pathOf('o'), BROWSER, 'HEAD')).status).toBe(200)
    await aWhile()
    expect(await counts()).toEqual([0, 0])
    await visit(pathOf('o'))
    await become([1, 0])
  })
})

async function timeline(event: string): Promise<{ properties: Record<string, unknown> }[]> {
  const { events } = await ask('GET', `/api/contacts/${sent.contactId}/timeline`, undefined)
  const found = (events as { event: string; properties: Record<string, unknown> }[]).filter(
    (one) => one.event === event,
  )
  return found
}

describe('what is held', () => {
  const log = createLogger({ level: 'silent', name: 'test' })
  let submitted: NewIngestRequest[]
  const hold = (options = {}, redis = service.redis, allowed = true): VisitBuffer => {
    submitted = []
    const submit = (request: NewIngestRequest) => {
      submitted.push(request)
      return Promise.resolve({ kind: 'queued' as const })
    }
    const limiter = { take: () => Promise.resolve({ allowed, window: '', remaining: 0, resetSeconds: 1 }) }
    return createVisitBuffer({ sql: service.sql, redis, limiter, submitter: { submit }, log }, options)
  }
  const seen = (target: string | null, at = Date.now(), messageId = sent.messageId): Visit => ({
    businessId: tenant.businessId,
    messageId,
    target,
    at,
    requestId: 'r',
  })

  it('is recorded when the front door closes, and nothing after it', async () => {
    const opened = hold()
    opened.note(seen('https://x.io/a'))
    await opened.close()
    opened.note(seen('https://x.io/a'))
    const link = hash('sha256', 'https://x.io/a', 'base64url').slice(0, 22)
    expect(submitted).toMatchObject([
      {
        kind: 'message_event',
        contactId: sent.contactId,
        fact: { key: ['message', sent.messageId, 'email_clicked', link, '0'].join('\0') },
      },
    ])
  })

  it('is known to all front doors', async () => {
    const [one, other] = [hold(), hold()]
    const at = Date.now()
    one.note(seen('https://x.io/a', at))
    other.note(seen('https://x.io/b', at + 900))
    await aWhile()
    await Promise.all([one.close(), other.close()])
    expect(submitted).toEqual([])
  })

  it('is limited', async () => {
    const full = hold({ most: 2 })
    for (let n = 0; n < 3; n += 1) full.note(seen(null))
    await full.close()
    expect(submitted).toHaveLength(2)
  })

  it('is not recorded without Redis, of an erased person, or of an inactive business', async () => {
    const away = connectRedis('redis://127.0.0.1:1', 'limiter')
    const opened = hold({}, away)
    opened.note(seen('https://x.io/a'))
    await opened.close()
    away.disconnect()
    expect(submitted).toEqual([])
    const unknown = hold()
    unknown.note(seen(null, Date.now(), crypto.randomUUID()))
    await unknown.close()
    await service.sql`update businesses set active = false where id = ${tenant.businessId}`
    const inactive = hold()
    inactive.note(seen(null))
    await inactive.close()
    await service.sql`update businesses set active = true where id = ${tenant.businessId}`
    await service.sql`update messages set contact_id = null where id = ${sent.messageId}`
    const erased = hold()
    erased.note(seen(null))
    await erased.close()
    expect(submitted).toEqual([])
  })

  it('is limited for one message, whose links lead on', async () => {
    const opened = hold({}, service.redis, false)
    opened.note(seen(null))
    await opened.close()
    expect(submitted).toEqual([])
    const answers = await Promise.all(Array.from({ length: VISITS_A_MINUTE + 1 }, () => visit(pathOf('c'))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]))
  })
})
