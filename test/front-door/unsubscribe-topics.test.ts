/** The preference page with topics, and one click in a mail (RFC 8058). */
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type MessageKey, loadMessageKey } from '../../src/messages/message-key.ts'
import { MAX_OWN_CHOICES, PAGE_METHOD } from '../../src/messages/unsubscribe/read-preferences.ts'
import { writeToken } from '../../src/messages/unsubscribe/token.ts'
import { type MailServer, openMailServer } from '../messages/channels/mail-server.ts'
import { openService } from '../support/service.ts'
import { addTopics } from '../support/topics.ts'
import { useOpened } from '../support/use-opened.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { type SimulationClient, openClient } from './simulation-client.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://shop.example', ALLOW_LOOPBACK_TARGETS: 'true' }))
let speak: Speak
let key: MessageKey
let mails: MailServer
beforeAll(async () => {
  speak = speakTo(service.url)
  key = await loadMessageKey(service.sql)
  mails = await openMailServer()
})
afterAll(() => mails?.close())

let client: SimulationClient
let contactId: string
beforeEach(async () => {
  client = await openClient(service)
  await addTopics(service.sql, client.tenant.businessId, {
    news: {},
    offers: { defaultOn: true },
    secret: { isPublic: false, channels: ['email'] },
  })
  const { body } = await client.ask('POST', '/api/sdk/identify', { identity: { email: 'ada@x.io' } })
  contactId = String(body.data['contactId'])
  await optIn({ email: true, sms: true })
})
const optIn = (choices: object) =>
  client.ask('PUT', `/api/contacts/${contactId}/subscriptions`, { ...choices, method: 'form' })
const choose = (topics: object) => client.ask('PUT', `/api/contacts/${contactId}/topics`, { topics, method: 'form' })

const linkOf = (topic?: string) =>
  `/u/${writeToken(key, { businessId: client.tenant.businessId, contactId, channel: 'email', ...(topic && { topic }) })}`
const open = (link = linkOf('news')) => speak('GET', link)
const post = (fields: [string, string][] = [], link = linkOf('news')) =>
  speak('POST', link, {
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
/** What a form of the page sends: its hidden fields, and the boxes that are on. */
const shown = (page: Answer, channel: string): [string, string][] => {
  const forms = page.text
    .split('<form method="post">')
    .filter((one) => new RegExp(`name="(save|resume)" value="${channel}"`).test(one))
  return [...(forms[0] ?? '').matchAll(/name="shown" value="([^"]+)"/g)].map(([, value = '']): [string, string] => [
    'shown',
    value,
  ])
}
const statusOf = ({ text }: Answer) => /<p role="status">(.*?)<\/p>/.exec(text)?.[1]
const buttonsOf = ({ text }: Answer) =>
  [...text.matchAll(/<button name="(\w+)" value="(\w+)">/g)].map(([, name, value]) => `${name} ${value}`)
const choicesOf = async () => {
  const rows = await service.sql<{ topic: string; channel: string; subscribed: boolean; method: string }[]>`
    select topic, channel, subscribed, method from topic_choices where contact_id = ${contactId} order by 1, 2`
  return rows.map((one) => [one.topic, one.channel, one.subscribed, one.method])
}
const isOpen = async (channel = 'email') => {
  const [row] = await service.sql<{ subscribed: boolean }[]>`
    select subscribed from subscriptions where contact_id = ${contactId} and channel = ${channel}`
  return row?.subscribed
}

describe('a link with a topic', () => {
  it('has two buttons, shows the topics of each open channel, and never acts when read', async () => {
    await choose({ news: { email: true } })
    const page = await open()
    expect(buttonsOf(page)).toEqual([
      'end topic',
      'end email',
      'save email',
      'end email',
      'save sms',
      'end sms',
      'end all',
    ])
    expect(page.text).toContain('Unsubscribe from The news')
    expect(shown(page, 'email')).toEqual([
      ['shown', 'news on'],
      ['shown', 'offers on'],
    ])
    expect(shown(page, 'sms')).toEqual([
      ['shown', 'news off'],
      ['shown', 'offers on'],
    ])
    expect(page.text).not.toContain('The secret')
    await choose({ secret: { email: true } })
    expect((await open()).text).toContain('The secret')
    expect(await choicesOf()).toHaveLength(2)
  })

  it('leaves the topic alone with a form without a choice, and the channel if the business says so', async () => {
    await choose({ news: { email: true } })
    expect(statusOf(await post())).toBe('You are unsubscribed.')
    expect(await choicesOf()).toEqual([['news', 'email', false, PAGE_METHOD]])
    expect(await isOpen()).toBe(true)
    expect((await client.ask('PUT', '/api/subscriptions/settings', { oneClick: 'channel' })).body.data).toEqual({
      confirmationTemplate: null,
      oneClick: 'channel',
    })
    await post([['List-Unsubscribe', 'One-Click']])
    expect([await isOpen(), await isOpen('sms')]).toEqual([false, true])
  })

  it('ends the channel in the same save with the last topic that the contact gets', async () => {
    await choose({ news: { email: true }, offers: { email: false } })
    await post([['end', 'topic']])
    expect([await isOpen(), await isOpen('sms')]).toEqual([false, true])
  })

  it('still records for an archived topic, and ends the channel for one that is gone', async () => {
    await service.sql`update topics set archived = true where business_id = ${client.tenant.businessId} and key = 'news'`
    await service.sql`update businesses set config_version = config_version + 1 where id = ${client.tenant.businessId}`
    await post()
    expect((await choicesOf()).map(([topic, , is]) => [topic, is])).toEqual([['news', false]])
    expect(await isOpen()).toBe(true)
    await post([], linkOf('gone'))
    expect(await isOpen()).toBe(false)
  })

  it('that is forged is 404, and a link without a topic ends the channel, as ever', async () => {
    expect((await post([], `${linkOf('news').slice(0, -2)}xx`)).status).toBe(404)
    const page = await open(linkOf())
    expect(buttonsOf(page)[0]).toBe('end email')
    await post([], linkOf())
    expect([await isOpen(), await choicesOf()]).toEqual([false, []])
  })
})

describe('the boxes', () => {
  it('record what differs from what the form was shown with: an old form undoes nothing else', async () => {
    const old = shown(await open(), 'email')
    await choose({ offers: { email: false }, news: { email: true } })
    expect(statusOf(await post([...old, ['on', 'news'], ['on', 'offers'], ['save', 'email']]))).toBe(
      'Your choice is saved.',
    )
    expect(await choicesOf()).toEqual([
      ['news', 'email', true, 'form'],
      ['offers', 'email', false, 'form'],
    ])
    await post([...old, ['save', 'email']])
    expect((await choicesOf()).map(([topic, , is, method]) => [topic, is, method])).toEqual([
      ['news', true, 'form'],
      ['offers', false, 'form'],
    ])
  })

  it('join and leave topics, but none that the form did not show, and no private one', async () => {
    const fields = shown(await open(), 'sms')
    await post([...fields, ['on', 'news'], ['on', 'secret'], ['save', 'sms']])
    expect((await choicesOf()).map(([topic, channel, is]) => [topic, channel, is])).toEqual([
      ['news', 'sms', true],
      ['offers', 'sms', false],
    ])
    await post([
      ['shown', 'secret off'],
      ['on', 'secret'],
      ['save', 'email'],
    ])
    expect(await choicesOf()).toHaveLength(2)
  })

  it('that are all off end the channel', async () => {
    await post([...shown(await open(), 'email'), ['save', 'email']])
    expect([await isOpen(), await isOpen('sms')]).toEqual([false, true])
  })

  it('are all recorded as they stand when the page opens the channel again', async () => {
    await choose({ news: { email: true } })
    await post([['end', 'email']])
    const page = await open()
    expect(buttonsOf(page)).toContain('resume email')
    await post([...shown(page, 'email'), ['on', 'offers'], ['resume', 'email']])
    expect(await isOpen()).toBe(true)
    expect((await choicesOf()).map(([topic, , is, method]) => [topic, is, method])).toEqual([
      ['news', false, PAGE_METHOD],
      ['offers', true, PAGE_METHOD],
    ])
  })

  it('stay closed for a channel that another has ended', async () => {
    await optIn({ email: false })
    expect(buttonsOf(await open())).not.toContain('resume email')
    await post([
      ['shown', 'news off'],
      ['on', 'news'],
      ['resume', 'email'],
    ])
    expect([await isOpen(), await choicesOf()]).toEqual([false, []])
  })

  it('no longer join a topic for which the page has recorded too many choices', async () => {
    await service.sql`
      insert into topic_history (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
      select ${client.tenant.businessId}, ${contactId}, 'news', 'email', false, ${PAGE_METHOD}, n
      from generate_series(1, ${MAX_OWN_CHOICES}::int) n`
    await post([
      ['shown', 'news off'],
      ['on', 'news'],
      ['save', 'email'],
    ])
    expect(await choicesOf()).toEqual([])
  })

  it('have names in the language of the contact', async () => {
    await client.ask('PATCH', '/api/topics/news', {
      names: { en: { name: 'News' }, de: { name: 'Neues', description: 'Alle <Wochen>' } },
    })
    await client.ask('PATCH', `/api/contacts/${contactId}`, { profile: { language: 'de-AT' } })
    const { text } = await open()
    expect(text).toContain('Neues')
    expect(text).toContain('Alle &lt;Wochen&gt;')
  })
})

it('a mail program that clicks once leaves the topic of the mail, by the headers of the mail alone', async () => {
  const saved = await client.ask('PUT', '/api/channels/email', {
    provider: 'smtp',
    host: '127.0.0.1',
    port: mails.port,
    sender: 'Shop <hello@shop.example>',
  })
  expect([saved.status, saved.body.error]).toEqual([200, undefined])
  const template = await client.template('Hello')
  const steps = [{ id: 'a', type: 'send', channel: 'email', template }]
  const campaignId = await client.draft(steps, { topic: 'offers' })
  const published = await client.ask('POST', `/api/campaigns/${campaignId}/publish`)
  expect([published.status, published.body.error]).toEqual([200, undefined])
  await client.ask('POST', '/api/sdk/track', { event: 'signup', identity: { email: 'ada@x.io' } })
  const mail = await vi.waitUntil(() => mails.heard[0], { timeout: 15_000 })
  const { headers } = await PostalMime.parse(mail.raw)
  const header = (name: string) => headers.find((one) => one.key === name)?.value
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
  const [, address = ''] = /^<https:\/\/shop\.example(\/u\/[\w-]+)>$/.exec(header('list-unsubscribe') ?? '') ?? []
  expect((await post([['List-Unsubscribe', 'One-Click']], address)).status).toBe(200)
  expect((await choicesOf()).map(([topic, channel, is]) => [topic, channel, is])).toEqual([['offers', 'email', false]])
})
