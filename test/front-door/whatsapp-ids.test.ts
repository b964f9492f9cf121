/** Words from an id of WhatsApp hold for the address that a message went to (docs/messages.md, "Callbacks"). */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_ADDRESSES } from '../../src/messages/callbacks/whatsapp-ids.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { findSuppressed } from '../../src/messages/suppressions/find-suppressed.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { type Platform, json, openPlatform } from '../deliveries/platform.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type Speak, speakTo } from './http-client.ts'

const PUBLIC_URL = 'https://mail.example.com'
const FROM = 1_577_836_800

let service: Service
let speak: Speak
let platform: Platform
beforeAll(async () => {
  service = await openService({ PUBLIC_URL, SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' }, { withoutWorkers: true })
  speak = speakTo(service.url)
  platform = await openPlatform()
})
afterAll(async () => {
  await platform.close()
  await service.close()
})

interface Shop {
  businessId: string
  /** Sends a message to this number. Meta's answer has these `contacts`. */
  send(to: string, contacts: unknown): ReturnType<Speak>
  /** A person writes at this second. */
  say(from: string, body: string, at: number): Promise<void>
  suppressed(address: string): Promise<boolean | undefined>
  kept(): Promise<{ address: string; wa_id: string; version: string }[]>
  key: string
}

async function openShop(): Promise<Shop> {
  const { businessId, secretKey: key } = await createBusiness(service.sql, { rateLimit: 100_000 })
  const secrets = { token: 't', appSecret: 'app-secret', verifyToken: 'verify' }
  const settings = { provider: 'meta', phoneNumberId: '1065', baseUrl: platform.url, ...secrets }
  const answer = await speak('PUT', '/api/channels/whatsapp', { key, json: settings })
  const { callbackUrl } = answer.body.data['channel'] as { callbackUrl: string }
  const hook = callbackUrl.slice(PUBLIC_URL.length)
  return {
    businessId,
    key,
    async send(to, contacts) {
      platform.reply = json(200, { messaging_product: 'whatsapp', contacts, messages: [{ id: 'wamid.1' }] })
      return await speak('POST', '/api/channels/whatsapp/test', { key, json: { to } })
    },
    async say(from, body, at) {
      const messages = [{ from, id: `${from} ${at}`, timestamp: String(FROM + at), type: 'text', text: { body } }]
      const value = { metadata: { phone_number_id: '1065' }, messages }
      const raw = JSON.stringify({ entry: [{ changes: [{ value }] }] })
      const signature = createHmac('sha256', 'app-secret').update(raw).digest('hex')
      const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }
      expect((await speak('POST', hook, { raw, headers })).status).toBe(200)
    },
    async suppressed(address) {
      const messageKey = await loadMessageKey(service.sql)
      return (await findSuppressed(service.sql, messageKey, [{ businessId, channel: 'whatsapp', address }]))[0]
    },
    kept: () => service.sql`
      select address, wa_id, xmin || ' ' || ctid as version from whatsapp_ids
      where business_id = ${businessId} order by address, wa_id`,
  }
}

let shop: Shop
beforeEach(async () => {
  shop = await openShop()
})

/** Numbers that no rule of a country connects. */
const ADDRESS = '4915112345678'
const ID = '4915187654321'
const answered = (waId: string, input = `+${ADDRESS}`) => [{ input, wa_id: waId }]

const outcomeOf = ({ body }: Awaited<ReturnType<Speak>>) => body.data['outcome']
const both = (id = ID, address = ADDRESS) => Promise.all([shop.suppressed(id), shop.suppressed(address)])

describe('a word from an id of WhatsApp', () => {
  it.each([
    [ADDRESS, ID],
    // Benin: ids can be of the time before numbers had ten digits. Nobody can call them.
    ['2290197123456', '22997123456'],
  ])('holds for %s, which a message was sent to, as for %s', async (address, id) => {
    const sent = await shop.send(`+${address}`, answered(id))
    expect(outcomeOf(sent)).toBe('accepted')
    expect(sent.body.data).not.toHaveProperty('recipientId')
    expect(await both(id, address)).toEqual([false, false])
    await shop.say(id, 'STOP', 1)
    expect(await both(id, address)).toEqual([true, true])
    const refused = await shop.send(`+${address}`, answered(id))
    expect([refused.status, refused.body.error.issues?.[0]?.path]).toEqual([400, 'to'])
    await shop.say(id, 'START', 3)
    expect(await both(id, address)).toEqual([false, false])
    await shop.say(id, 'STOP', 2)
    expect(await both(id, address)).toEqual([false, false])
  })

  it('counts by its instant beside those from the address itself', async () => {
    await shop.send(`+${ADDRESS}`, answered(ID))
    await shop.say(ADDRESS, 'START', 5)
    await shop.say(ID, 'STOP', 4)
    expect(await both()).toEqual([true, false])
    await shop.say(ID, 'STOP', 6)
    await shop.say(ADDRESS, 'START', 5)
    expect(await both()).toEqual([true, true])
  })

  it('holds for every address of the id, and for no other', async () => {
    const [second, stranger] = ['4915112345679', '4915112345670']
    await shop.send(`+${ADDRESS}`, answered(ID))
    await shop.send(`+${second}`, answered(ID))
    await shop.send(`+${stranger}`, answered('4915100000000'))
    await shop.say(ID, 'STOP', 1)
    expect(await Promise.all([ADDRESS, second, stranger].map((one) => shop.suppressed(one)))).toEqual([
      true,
      true,
      false,
    ])
  })

  it('holds in the business that it was written to alone', async () => {
    const other = await openShop()
    for (const one of [shop, other]) await one.send(`+${ADDRESS}`, answered(ID))
    await shop.say(ID, 'STOP', 1)
    expect([await shop.suppressed(ADDRESS), await other.suppressed(ADDRESS)]).toEqual([true, false])
    const third = await openShop()
    await third.say(ID, 'STOP', 1)
    expect([await third.suppressed(ID), await third.suppressed(ADDRESS)]).toEqual([true, false])
  })

  it('that came before the id was known holds as soon as it is', async () => {
    await shop.say(ID, 'STOP', 1)
    expect(await both()).toEqual([true, false])
    await shop.send(`+${ADDRESS}`, answered(ID))
    expect(await both()).toEqual([true, true])
    await shop.say(ID, 'START', 3)
    expect(await both()).toEqual([false, false])
  })

  it('that came before, and was taken back, does not return', async () => {
    await shop.say(ID, 'STOP', 1)
    await shop.say(ID, 'START', 3)
    await shop.send(`+${ADDRESS}`, answered(ID))
    await shop.say(ID, 'STOP', 2)
    expect(await both()).toEqual([false, false])
    await shop.say(ID, 'STOP', 4)
    await speak('DELETE', '/api/suppressions?reason=stop', { key: shop.key })
    await shop.send('+4915112345679', answered(ID))
    expect(await shop.suppressed('4915112345679')).toBe(false)
  })

  it('that comes at once with the answer is never lost', async () => {
    for (let n = 0; n < 20; n += 1) {
      const [address, id] = [`49151123457${String(n).padStart(2, '0')}`, `49151876543${String(n).padStart(2, '0')}`]
      const [sent] = await Promise.all([shop.send(`+${address}`, answered(id)), shop.say(id, 'STOP', 1)])
      expect(outcomeOf(sent)).toBe('accepted')
      expect([n, ...(await both(id, address))]).toEqual([n, true, true])
    }
  })
})

describe('what is kept', () => {
  it('is not written again', async () => {
    await shop.send(`+${ADDRESS}`, answered(ID))
    const first = await shop.kept()
    expect(first).toMatchObject([{ address: ADDRESS, wa_id: ID }])
    await shop.send(`+${ADDRESS}`, answered(ID))
    expect(await shop.kept()).toEqual(first)
  })

  it('is the id in the answer to a test of a campaign, too', async () => {
    const post = async (path: string, said: object) =>
      (await speak('POST', path, { key: shop.key, json: said })).body.data as Record<string, Record<string, string>>
    const variants = { en: { text: 'Hello' } }
    const { template } = await post('/api/templates', {
      name: 't',
      channel: 'whatsapp',
      variants,
      defaultLanguage: 'en',
    })
    const steps = [{ type: 'send', channel: 'whatsapp', template: template?.['templateId'] }]
    const { campaign } = await post('/api/campaigns', { name: 'c', trigger: { event: 'signup' }, steps })
    platform.reply = json(200, { contacts: answered(ID), messages: [{ id: 'wamid.1' }] })
    const { sends } = await post(`/api/campaigns/${campaign?.['campaignId']}/test`, { to: `+${ADDRESS}` })
    expect(sends).toMatchObject([{ outcome: 'accepted', providerMessageId: 'wamid.1' }])
    expect(JSON.stringify(sends)).not.toContain('recipientId')
    expect(await shop.kept()).toMatchObject([{ address: ADDRESS, wa_id: ID }])
  })

  it.each([
    [ADDRESS, ADDRESS],
    ['525543142412', '5215543142412'],
    ['5511943142434', '551143142434'],
  ])('is nothing for %s with the id %s', async (address, id) => {
    expect(outcomeOf(await shop.send(`+${address}`, answered(id)))).toBe('accepted')
    expect(await shop.kept()).toEqual([])
  })

  it.each([
    [undefined],
    [null],
    ['4915187654321'],
    [{ wa_id: ID }],
    [[]],
    [[null]],
    [[{ input: ADDRESS }]],
    [[{ wa_id: 4_915_187_654_321 }]],
    [[{ wa_id: '' }]],
    [[{ wa_id: 'ada' }]],
    [[{ wa_id: '49151\u00008765' }]],
    [[{ wa_id: '4'.repeat(21) }]],
    [[{ wa_id: '4'.repeat(300) }]],
  ])('is nothing of the contacts %j', async (contacts) => {
    expect(outcomeOf(await shop.send(`+${ADDRESS}`, contacts))).toBe('accepted')
    expect(await shop.kept()).toEqual([])
  })

  it('has a limited number of addresses for an id', async () => {
    for (let n = 0; n <= MAX_ADDRESSES; n += 1)
      await shop.send(`+491511234567${String(n).padStart(2, '0')}`, answered(ID))
    expect(await shop.kept()).toHaveLength(MAX_ADDRESSES)
  })
})
