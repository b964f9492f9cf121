/** The page that the links in messages lead to (campaigns, "Channels"). */
import { createHash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LINK_LIMITS } from '../../src/front-door/access/charge.ts'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { type MessageKey, loadMessageKey } from '../../src/messages/message-key.ts'
import type { MessageChannel } from '../../src/messages/templates/template.ts'
import { MAX_OWN_CHOICES, ONE_CLICK_METHOD, PAGE_METHOD } from '../../src/messages/unsubscribe/read-preferences.ts'
import { writeToken } from '../../src/messages/unsubscribe/token.ts'
import type { Subscriptions } from '../../src/rules/events/facts.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { type Answer, type Said, type Speak, speakTo } from './http-client.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ TRUST_PROXY: 'true' }))
let speak: Speak
let key: MessageKey
let tenant: TestBusiness
let contactId: string
beforeAll(async () => {
  speak = speakTo(service.url)
  key = await loadMessageKey(service.sql)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { name: 'Shop & <b>"Sons"</b>' })
  contactId = await identify({ email: 'ada@example.com' })
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
async function identify(identity: object, profile: object = {}): Promise<string> {
  const answer = await ask('POST', '/api/sdk/identify', { identity, profile })
  expect(answer.status).toBe(200)
  return String(answer.body.data['contactId'])
}
const choose = async (choice: Partial<Subscriptions>, method = 'form', id = contactId) => {
  const answer = await ask('PUT', `/api/contacts/${id}/subscriptions`, { ...choice, method })
  expect(answer.status).toBe(200)
}
const linkOf = (channel: MessageChannel = 'email', id = contactId) =>
  `/u/${writeToken(key, { businessId: tenant.businessId, contactId: id, channel })}`
const open = (link = linkOf(), said: Said = {}) => speak('GET', link, said)
const form = (fields: Record<string, string>): Said => ({
  raw: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})
const post = (fields: Record<string, string> = {}, link = linkOf()) => speak('POST', link, form(fields))
/** Returns the rows in Postgres when the answer has arrived. */
const stored = async (id = contactId) => {
  const rows = await service.sql<{ channel: string; subscribed: boolean; method: string }[]>`
    select channel, subscribed, method from subscriptions where contact_id = ${id} order by channel`
  return rows.map(({ channel, subscribed, method }) => [channel, subscribed, method])
}
const historyOf = async (id = contactId) => {
  const rows = await service.sql<{ subscribed: boolean; method: string }[]>`
    select subscribed, method from consent_history where contact_id = ${id} order by id`
  return rows.map(({ subscribed, method }) => `${subscribed ? 'in' : 'out'}: ${method}`)
}
const statusOf = ({ text }: Answer) => /<p role="status">(.*?)<\/p>/.exec(text)?.[1]
const buttonsOf = ({ text }: Answer) =>
  [...text.matchAll(/<button name="(\w+)" value="(\w+)">/g)].map(([, name, value]) => `${name} ${value}`)

describe('reading', () => {
  it('shows, and never acts', async () => {
    await choose({ email: true, sms: true })
    const page = await open()
    expect(page.status).toBe(200)
    expect(page.text).toContain('Messages from Shop &amp; &lt;b&gt;&quot;Sons&quot;&lt;/b&gt;')
    expect(page.text).not.toContain('<b>')
    expect(buttonsOf(page)).toEqual(['end email', 'end sms', 'end all'])
    const head = await speak('HEAD', linkOf())
    expect([head.status, head.text]).toEqual([200, ''])
    for (const query of ['?end=email', '?List-Unsubscribe=One-Click']) await open(linkOf() + query)
    for (const method of ['PUT', 'DELETE', 'PATCH']) expect((await speak(method, linkOf())).status).toBe(405)
    expect(await stored()).toEqual([
      ['email', true, 'form'],
      ['sms', true, 'form'],
    ])
    expect(await historyOf()).toHaveLength(2)
  })

  it('is plain HTML that runs nothing, loads nothing, and names its address to no site', async () => {
    const { headers, text } = await open()
    const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? ''
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    )
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-robots-tag')).toBe('noindex, nofollow')
    expect(headers.get('set-cookie')).toBeNull()
    expect(text).not.toMatch(/<script|<link|<img|\son\w+=|style=|https?:/)
    expect(text).not.toContain('ada@example.com')
    expect(text).toContain('<h2 id="preferences">')
  })

  it('is in the language of the contact', async () => {
    const languages = [
      ['de-AT', '<html lang="de" dir="ltr">', 'E-Mail abbestellen'],
      ['he', '<html lang="he" dir="rtl">', 'ביטול ההרשמה: דוא״ל'],
      ['fr', '<html lang="en" dir="ltr">', 'Unsubscribe from email'],
    ] as const
    for (const [language, root, button] of languages) {
      const id = await identify({ email: `${language}@x.io` }, { language })
      const { text } = await open(linkOf('email', id))
      expect(text).toContain(root)
      expect(text).toContain(`value="email">${button}</button>`)
    }
  })
})

describe('a POST', () => {
  const boundary = 'a-boundary'
  const parts = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--${boundary}--\r\n`
  const multipart = (name: string, value: string): Said => ({
    raw: parts(name, value),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  const ONE_CLICK = { 'List-Unsubscribe': 'One-Click' }

  it.each<[string, Said, string]>([
    ['of a mail program', form(ONE_CLICK), ONE_CLICK_METHOD],
    ['of a mail program in parts', multipart('List-Unsubscribe', 'One-Click'), ONE_CLICK_METHOD],
    ['of the page', form({ end: 'email' }), PAGE_METHOD],
    ['of the page in parts', multipart('end', 'email'), PAGE_METHOD],
    ['without a body', {}, PAGE_METHOD],
    ['of an empty form', form({}), PAGE_METHOD],
    [
      'with a cookie and of another site',
      { ...form({}), headers: { ...form({}).headers, cookie: 'a=b', origin: 'https://evil.example' } },
      PAGE_METHOD,
    ],
  ])('ends the channel of its link: %s', async (_, said, method) => {
    await choose({ email: true, sms: true })
    const answer = await speak('POST', linkOf(), said)
    expect(await stored()).toEqual([
      ['email', false, method],
      ['sms', true, 'form'],
    ])
    expect([answer.status, statusOf(answer)]).toEqual([200, 'You are unsubscribed.'])
    expect(buttonsOf(answer)).toEqual(['resume email', 'end sms'])
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it('ends without an opt-in too, and such an end is not undone', async () => {
    expect(buttonsOf(await post())).toEqual([])
    expect(await stored()).toEqual([['email', false, PAGE_METHOD]])
    const answer = await post({ resume: 'email' })
    expect(statusOf(answer)).toContain('no longer')
    expect(await historyOf()).toEqual([`out: ${PAGE_METHOD}`])
  })

  it('ends another channel, or all', async () => {
    await choose({ email: true, sms: true, push: true })
    await post({ end: 'sms' })
    expect((await stored()).filter(([, subscribed]) => subscribed).map(([channel]) => channel)).toEqual([
      'email',
      'push',
    ])
    await post({ end: 'all' })
    expect((await stored()).map(([, subscribed]) => subscribed)).toEqual([false, false, false, false])
  })

  it('to the link of a webhook, which has no opt-in of its own, ends all channels', async () => {
    await choose({ email: true, whatsapp: true })
    expect(buttonsOf(await open(linkOf('webhook')))).toEqual(['end email', 'end whatsapp', 'end all'])
    await post({}, linkOf('webhook'))
    expect((await stored()).map(([channel, subscribed]) => `${channel} ${subscribed}`)).toEqual(
      ['email', 'push', 'sms', 'whatsapp'].map((channel) => `${channel} false`),
    )
  })

  it('with another form is refused, and changes nothing', async () => {
    await choose({ email: true })
    const status = async (said: Said) => (await speak('POST', linkOf(), said)).status
    for (const fields of [{ end: 'fax' }, { resume: 'all' }, { end: '' }, { end: 'email', resume: 'email' }])
      expect([fields, await status(form(fields as Record<string, string>))]).toEqual([fields, 400])
    expect(await status({ ...form({}), raw: 'end=email&end=sms' })).toBe(400)
    expect(await status({ ...multipart('end', 'email'), raw: 'no parts' })).toBe(400)
    expect(await status({ json: {} })).toBe(415)
    expect(await status({ raw: 'end=email', headers: { 'content-type': 'text/plain' } })).toBe(415)
    const { headers = {} } = form({})
    expect(await status({ raw: `x=${'x'.repeat(16 * 1024 - 1)}`, headers })).toBe(413)
    expect(await stored()).toEqual([['email', true, 'form']])
    expect(await status({ raw: `x=${'x'.repeat(16 * 1024 - 2)}`, headers })).toBe(200)
  })

  it('that comes often, and at once, is recorded once', async () => {
    await choose({ email: true })
    const answers = await Promise.all(Array.from({ length: 20 }, () => post()))
    expect(answers.map(statusOf)).toEqual(Array<string>(20).fill('You are unsubscribed.'))
    expect(await historyOf()).toEqual(['in: form', `out: ${PAGE_METHOD}`])
  })

  it('beside opt-ins ends as the last one that was answered', async () => {
    await choose({ email: true })
    await Promise.all([post(), choose({ email: true }, 'at once')])
    await choose({ email: true }, 'later')
    expect(await stored()).toEqual([['email', true, 'later']])
    await post()
    expect(await stored()).toEqual([['email', false, PAGE_METHOD]])
    await choose({ email: true }, 'latest')
    expect(await stored()).toEqual([['email', true, 'latest']])
  })
})

describe('the page begins again', () => {
  it('what it has itself ended', async () => {
    await choose({ email: true, sms: true })
    await post({ end: 'sms' })
    expect(buttonsOf(await open())).toEqual(['end email', 'resume sms'])
    const answer = await post({ resume: 'sms' })
    expect(statusOf(answer)).toBe('You are subscribed again.')
    expect((await stored())[1]).toEqual(['sms', true, PAGE_METHOD])
    // A repeat adds no entry.
    expect(statusOf(await post({ resume: 'sms' }))).toBe('You are subscribed again.')
    expect(await historyOf()).toHaveLength(4)
  })

  it('no opt-out of others, before its own or after it', async () => {
    await choose({ sms: true, whatsapp: true })
    await choose({ sms: false }, 'STOP')
    await post({ end: 'all' })
    await choose({ whatsapp: false }, 'support')
    expect(buttonsOf(await open())).toEqual([])
    for (const channel of ['sms', 'whatsapp', 'push', 'email'])
      expect(statusOf(await post({ resume: channel }))).toContain('no longer')
    expect((await stored()).filter(([, subscribed]) => subscribed)).toEqual([])
    // After an opt-in that follows them, the page can resume again.
    await choose({ sms: true }, 'START')
    await post({ end: 'sms' })
    expect(statusOf(await post({ resume: 'sms' }))).toBe('You are subscribed again.')
  })

  it('no opt-out that a merge brought along', async () => {
    await choose({ email: true })
    const phone = await identify({ phone: '+972541234567' })
    await choose({ email: false }, 'support', phone)
    await choose({ email: true }, 'form', phone)
    await post()
    await post({}, linkOf('email', phone))
    expect(buttonsOf(await open())).toEqual(['resume email'])
    await identify({ email: 'ada@example.com', phone: '+972541234567' })
    expect(buttonsOf(await open())).toEqual([])
    expect(statusOf(await post({ resume: 'email' }))).toContain('no longer')
  })

  it('no more than so often', async () => {
    await choose({ email: true })
    await post()
    const fill = (many: number) => service.sql`
      insert into consent_history (business_id, contact_id, channel, subscribed, method, recorded_at)
      select ${tenant.businessId}, ${contactId}, 'email', n % 2 = 0, ${PAGE_METHOD}, 0 from generate_series(1, ${many}) n`
    await fill(MAX_OWN_CHOICES - 2)
    expect(buttonsOf(await open())).toEqual(['resume email'])
    await fill(1)
    expect(buttonsOf(await open())).toEqual([])
  })
})

describe('a link', () => {
  it('that is forged or changed is not found', async () => {
    const link = linkOf()
    const last = link.at(-1) === 'A' ? 'B' : 'A'
    const forged = [
      '/u/x',
      link.slice(0, -1),
      `${link}A`,
      link.slice(0, -1) + last,
      link.replace('/u/', '/u/A'),
      `/u/${writeToken(Buffer.alloc(32), { businessId: tenant.businessId, contactId, channel: 'email' })}`,
    ]
    for (const path of forged)
      for (const method of ['GET', 'POST']) {
        const answer = await speak(method, path)
        expect([path, method, answer.status]).toEqual([path, method, 404])
        expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
        expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
        expect(answer.text).toContain('not valid')
      }
    expect(await stored()).toEqual([])
  })

  it('to a contact of another business leads nowhere', async () => {
    const other = contactId
    tenant = await createBusiness(service.sql)
    expect((await open(linkOf('email', other))).text).toContain('Nothing is stored')
    expect((await post({}, linkOf('email', other))).status).toBe(200)
    expect(await stored(other)).toEqual([])
  })

  it('outlives a merge, and is the survivor’s', async () => {
    const phone = await identify({ phone: '+972541234567' })
    const link = linkOf('sms', phone)
    await choose({ sms: true }, 'form', phone)
    expect(await identify({ email: 'ada@example.com', phone: '+972541234567' })).toBe(contactId)
    expect(buttonsOf(await open(link))).toEqual(['end sms'])
    await post({}, link)
    expect(await stored()).toEqual([['sms', false, PAGE_METHOD]])
    expect(statusOf(await post({ resume: 'sms' }, link))).toBe('You are subscribed again.')
  })

  it('to an erased person says so, and records nothing', async () => {
    await choose({ email: true })
    await ask('DELETE', `/api/contacts/${contactId}`)
    for (const answer of [await open(), await post(), await post({ resume: 'email' })]) {
      expect([answer.status, buttonsOf(answer)]).toEqual([200, []])
      expect(answer.text).toContain('Nothing is stored about you')
    }
    expect(await stored()).toEqual([])
  })

  it('in a preview or a test unsubscribes nobody', async () => {
    for (const answer of [await open('/u/preview'), await post({}, '/u/preview')]) {
      expect([answer.status, buttonsOf(answer)]).toEqual([200, []])
      expect(answer.text).toContain('unsubscribes nobody')
    }
  })

  it('from an inactive business can be read, and a choice is not lost silently', async () => {
    await choose({ email: true })
    await service.sql`update businesses set active = false where id = ${tenant.businessId}`
    expect((await open()).status).toBe(200)
    const answer = await post()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])
    expect(await service.sql`select from dead_letters where business_id = ${tenant.businessId}`).toHaveLength(0)
    await service.sql`update businesses set removed_at = now() where id = ${tenant.businessId}`
    expect([(await open()).status, (await post()).status]).toEqual([404, 404])
  })

  it('is limited by itself, and forged ones by the address', async () => {
    const from = (address: string): Said => ({ headers: { 'x-forwarded-for': address } })
    const statuses: number[] = []
    for (let n = 0; n <= LINK_LIMITS.contact; n++) statuses.push((await open(linkOf(), from(`10.0.0.${n}`))).status)
    expect(statuses).toEqual([...Array<number>(LINK_LIMITS.contact).fill(200), 429])
    const limited = await open()
    expect([limited.status, limited.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
    const other = await identify({ email: 'other@example.com' })
    expect((await open(linkOf('email', other))).status).toBe(200)
    const forged: number[] = []
    for (let n = 0; n <= LINK_LIMITS.forged; n++) forged.push((await open('/u/forged', from('10.1.0.1'))).status)
    expect(forged).toEqual([...Array<number>(LINK_LIMITS.forged).fill(404), 429])
    expect((await open(linkOf('email', other), from('10.1.0.1'))).status).toBe(200)
    expect((await open('/u/forged', from('10.1.0.2'))).status).toBe(404)
  })
})

it('says when a choice is stored, but not yet applied', async () => {
  const stack = await openStack({ ANSWER_TIMEOUT_MS: '300' })
  // No workers run.
  const frontDoor = await runFrontDoor(stack.config)
  const { businessId } = await createBusiness(stack.sql)
  const id = '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11'
  await stack.sql`insert into contacts (business_id, id, created_at, keyed) values (${businessId}, ${id}, 0, true)`
  const token = writeToken(await loadMessageKey(stack.sql), { businessId, contactId: id, channel: 'sms' })
  const answer = await speakTo(frontDoor.url)('POST', `/u/${token}`)
  expect([answer.status, statusOf(answer)]).toEqual([202, 'Your choice was received, and takes effect within minutes.'])
  await frontDoor.close()
  await stack.close()
})
