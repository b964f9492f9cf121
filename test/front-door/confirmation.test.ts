/** Double opt-in: `"email": "pending"`, and the page on which a person confirms. */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { CONFIRM_MS } from '../../src/front-door/routes/unsubscribe/confirm.ts'
import { MAX_CONFIRMATIONS } from '../../src/messages/confirmations/ask-confirmation.ts'
import { hashTopic, readConfirmation, writeConfirmation } from '../../src/messages/confirmations/token.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { inTransaction } from '../../src/stores/transaction.ts'
import { openMailServer } from '../messages/channels/mail-server.ts'
import { MAX_TOPICS_EVER } from '../../src/rules/topics/topic.ts'
import { openService } from '../support/service.ts'
import { type SimulationClient, openClient } from './simulation-client.ts'
import { addTopics } from '../support/topics.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://shop.example', ALLOW_LOOPBACK_TARGETS: 'true' }))
let client: SimulationClient
let contactId: string
beforeEach(async () => {
  client = await openClient(service)
  contactId = await identify({ identity: { email: 'ada@x.io' } })
})

async function identify(body: object): Promise<string> {
  const { body: answer } = await client.ask('POST', '/api/sdk/identify', body)
  return answer.data['contactId'] as string
}
const choose = (choice: object, id = contactId) =>
  client.ask('PUT', `/api/contacts/${id}/subscriptions`, { method: 'form', ...choice })
const setTemplate = (confirmationTemplate: unknown) =>
  client.ask('PUT', '/api/subscriptions/settings', { confirmationTemplate })
async function useTemplate(): Promise<string> {
  const templateId = await client.template('Please confirm: {{confirmUrl}}')
  expect((await setTemplate(templateId)).status).toBe(200)
  return templateId
}
/** Returns the path of the link in the newest mail. */
async function mailedPath(): Promise<string> {
  const { body } = await client.ask('GET', '/api/channels/email/log')
  const [mail] = body.data['messages'] as { recipient: string; message: { text: string } }[]
  return mail?.message.text.match(/https:\/\/shop\.example(\/confirm\/\S+)/)?.[1] ?? ''
}
const visit = async (path: string, method = 'GET') => {
  const body = method === 'POST' ? new URLSearchParams() : null
  const response = await fetch(service.url + path, { method, body })
  return { status: response.status, text: await response.text() }
}
async function isSubscribed(id = contactId): Promise<boolean> {
  const { body } = await client.ask('GET', `/api/contacts/${id}`)
  return (body.data['contact'] as { subscriptions: { email: boolean } }).subscriptions.email
}
async function askPath(): Promise<string> {
  const { status, body } = await choose({ email: 'pending' })
  expect([status, body.data]).toEqual([
    200,
    {
      contactId,
      subscriptions: expect.objectContaining({ email: false }) as unknown,
      confirmation: { outcome: 'accepted' },
    },
  ])
  return mailedPath()
}

describe('a confirmation', () => {
  it('is asked for by mail; opening the page changes nothing, and its button subscribes, once', async () => {
    await useTemplate()
    const path = await askPath()
    expect(await isSubscribed()).toBe(false)
    for (const method of ['GET', 'HEAD']) expect((await visit(path, method)).status).toBe(200)
    expect((await visit(path)).text).toContain('Yes, subscribe me')
    expect(await isSubscribed()).toBe(false)
    for (let times = 0; times < 2; times += 1) {
      const { status, text } = await visit(path, 'POST')
      expect([status, text]).toEqual([200, expect.stringContaining('You are subscribed.')])
      expect(await isSubscribed()).toBe(true)
    }
    const history = await service.sql`select subscribed, method from consent_history where contact_id = ${contactId}`
    expect(history).toEqual([{ subscribed: true, method: 'Sluice double opt-in' }])
    const { body } = await choose({ email: 'pending' })
    expect(body.data).toMatchObject({ contactId, confirmation: { outcome: 'already_subscribed' } })
  })

  it('proves an address that a page has sent', async () => {
    await useTemplate()
    const response = await fetch(`${service.url}/api/sdk/identify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identity: { email: 'eve@x.io' }, businessId: client.tenant.businessId }),
    })
    const { data } = (await response.json()) as { data: { contactId: string } }
    const proven = async () => {
      const [row] = await service.sql<{ proven: boolean }[]>`
        select proven from identities where contact_id = ${data.contactId} and kind = 'email'`
      return row?.proven
    }
    expect(await proven()).toBe(false)
    await choose({ email: 'pending' }, data.contactId)
    await visit(await mailedPath(), 'POST')
    expect(await proven()).toBe(true)
    expect(await isSubscribed(data.contactId)).toBe(true)
  })

  it('goes to no address that only a page has sent for a contact of your servers', async () => {
    await useTemplate()
    const known = await identify({ identity: { phone: '+972501234567' } })
    await service.sql`
      insert into identities (business_id, kind, value, contact_id, proven, phone_read, position)
      values (${client.tenant.businessId}, 'email', 'eve@x.io', ${known}, false, false, nextval('identities_position_seq'))`
    expect((await choose({ email: 'pending' }, known)).body.message).toContain('no email address')
  })

  it('is not over an opt-out that came after it was asked for', async () => {
    await useTemplate()
    const path = await askPath()
    await choose({ email: false })
    expect((await visit(path, 'POST')).text).toContain('no longer valid')
    expect(await isSubscribed()).toBe(false)
    await visit(await askPath(), 'POST')
    expect(await isSubscribed()).toBe(true)
  })

  it('is of an address that the contact has, of 30 days, and of a contact that is there; a merge keeps it', async () => {
    await useTemplate()
    const key = await loadMessageKey(service.sql)
    const path = await askPath()
    const confirmation = readConfirmation(key, path.slice('/confirm/'.length))!
    const pathOf = (more: object) => `/confirm/${writeConfirmation(key, { ...confirmation, topics: [], ...more })}`
    const { askedAt } = confirmation
    for (const more of [{ addressHash: '0'.repeat(32) }, { askedAt: askedAt - CONFIRM_MS - 1000 }]) {
      expect((await visit(pathOf(more), 'POST')).text).toContain('no longer valid')
      expect(await isSubscribed()).toBe(false)
    }
    expect((await visit(pathOf({ contactId: randomUUID() }), 'POST')).text).toContain('Nothing is stored')
    const other = await identify({ identity: { phone: '+972501234567' } })
    await service.sql`update contacts set created_at = created_at - 1000 where id = ${other}`
    await identify({ identity: { phone: '+972501234567', email: 'ada@x.io' } })
    expect((await visit(path, 'POST')).text).toContain('You are subscribed.')
    expect(await isSubscribed(other)).toBe(true)
    await client.ask('DELETE', `/api/contacts/${contactId}`)
    expect((await visit(path)).text).toContain('Nothing is stored')
  })

  it('is signed: a changed link is 404', async () => {
    await useTemplate()
    const path = await askPath()
    for (const wrong of [`${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`, '/confirm/x', `${path}A`])
      expect((await visit(wrong, 'POST')).status).toBe(404)
  })

  it('goes to no suppressed address', async () => {
    await useTemplate()
    await client.ask('POST', '/api/suppressions', { suppressions: [{ channel: 'email', address: 'ada@x.io' }] })
    const { body } = await choose({ email: 'pending', sms: true })
    expect(body.data).toMatchObject({
      confirmation: { outcome: 'suppressed' },
      subscriptions: { sms: true, email: false },
    })
    expect(await mailedPath()).toBe('')
  })

  it(`is asked for at most ${MAX_CONFIRMATIONS} times a day`, async () => {
    await useTemplate()
    for (let times = 0; times < MAX_CONFIRMATIONS; times += 1) await askPath()
    const { status, body } = await choose({ email: 'pending' })
    expect([status, body.error.code]).toEqual([409, 'limit_reached'])
    await service.sql`update confirmations set asked_at = array[asked_at[1] - 86400000] || asked_at[2:]`
    await askPath()
  })

  it.each([
    [1, 1, true],
    [1, 2, false],
    [3, 3, false],
  ])('counts for both when contacts are merged: %d and %d', async (ofOne, ofOther, isAsked) => {
    await useTemplate()
    const other = await identify({ identity: { email: 'bob@x.io' } })
    for (let times = 0; times < ofOne; times += 1) await choose({ email: 'pending' })
    for (let times = 0; times < ofOther; times += 1) await choose({ email: 'pending' }, other)
    for (const email of ['ada@x.io', 'bob@x.io']) await identify({ identity: { email, platformCustomerId: 'c-7' } })
    expect((await choose({ email: 'pending' })).status).toBe(isAsked ? 200 : 409)
    const rows = await service.sql<{ many: number }[]>`
      select cardinality(asked_at) as many from confirmations
      where business_id = (select business_id from contacts where id = ${contactId})`
    expect(rows.map(({ many }) => many)).toEqual([3])
  })

  it('keeps no connection to the mail server while it is recorded', async () => {
    let isClosed = false
    const server = await openMailServer({ onClose: () => void (isClosed = true) })
    const { port } = server
    await client.ask('PUT', '/api/channels/email', { provider: 'smtp', host: '127.0.0.1', port, sender: 'shop@x.io' })
    await useTemplate()
    const asked = await inTransaction(service.sql, async (tx) => {
      await tx`lock table audit_log in exclusive mode`
      const answered = choose({ email: 'pending' })
      // A connection that stays open is closed after 15 s.
      await expect.poll(() => isClosed, { timeout: 5000 }).toBe(true)
      return { answered }
    })
    expect((await asked.answered).body.data).toMatchObject({ confirmation: { outcome: 'accepted' } })
    await server.close()
  })

  it('needs a template, and an address', async () => {
    expect((await choose({ email: 'pending' })).body.error).toMatchObject({ code: 'invalid_request' })
    await useTemplate()
    const nobody = await identify({ identity: { platformCustomerId: '7' } })
    expect((await choose({ email: 'pending' }, nobody)).body.message).toContain('no email address')
    expect((await choose({ email: 'pending' }, randomUUID())).status).toBe(404)
    for (const wrong of ['later', 1]) expect((await choose({ email: wrong })).status).toBe(400)
    expect((await choose({ sms: 'pending' })).status).toBe(400)
  })
})

describe('the setting', () => {
  it('names a template for email whose variants all have the link, which stays then', async () => {
    const plain = await client.template('Hello')
    const text = await client.template('{{confirmUrl}}', 'sms')
    for (const wrong of [plain, text, randomUUID(), 'x', 1, undefined])
      expect((await setTemplate(wrong)).status).toBe(400)
    const templateId = await useTemplate()
    const { body } = await client.ask('GET', '/api/subscriptions/settings')
    expect(body.data).toEqual({ confirmationTemplate: templateId, oneClick: 'topic' })
    expect((await client.ask('DELETE', `/api/templates/${templateId}`)).status).toBe(409)
    expect((await setTemplate(null)).body.data).toEqual({ confirmationTemplate: null, oneClick: 'topic' })
    expect((await client.ask('DELETE', `/api/templates/${templateId}`)).status).toBe(200)
  })

  it('keeps the link in its template', async () => {
    const templateId = await useTemplate()
    const change = async (text: string) => {
      const variants = { en: { subject: 'Hello', text: '{{confirmUrl}}' }, de: { subject: 'Hallo', text } }
      const { status, body } = await client.ask('PATCH', `/api/templates/${templateId}`, { variants })
      return [status, body.error?.issues?.map(({ path }) => path)]
    }
    expect(await change('nichts')).toEqual([400, ['variants']])
    expect(await change('Bitte: {{confirmUrl}}')).toEqual([200, undefined])
    await setTemplate(null)
    expect(await change('nichts')).toEqual([200, undefined])
  })

  it('fails a mail that has no link', async () => {
    const templateId = await useTemplate()
    const variants = { en: { subject: 'Hello', text: '{% if contact.city %}{{confirmUrl}}{% endif %}' } }
    expect((await client.ask('PATCH', `/api/templates/${templateId}`, { variants })).status).toBe(200)
    const { body } = await choose({ email: 'pending' })
    expect(body.data).toMatchObject({ confirmation: { outcome: 'template_failed' } })
  })
})

describe('a confirmation of topics', () => {
  const ask = (topics: readonly string[]) =>
    client.ask('PUT', `/api/contacts/${contactId}/topics`, {
      topics: Object.fromEntries(topics.map((key) => [key, { email: 'pending' }])),
      method: 'form',
    })
  const chosen = async () => {
    const rows = await service.sql<{ topic: string; subscribed: boolean; method: string }[]>`
      select topic, subscribed, method from topic_choices where contact_id = ${contactId} order by topic`
    return rows.map(({ topic, subscribed, method }) => [topic, subscribed, method])
  }

  it('records all that were asked for, and the channel, but for those that were chosen since', async () => {
    await useTemplate()
    await addTopics(service.sql, client.tenant.businessId, { news: {}, offers: {}, other: { defaultOn: true } })
    expect((await ask(['news', 'offers'])).body.data).toMatchObject({ confirmation: { outcome: 'accepted' } })
    const path = await mailedPath()
    expect([await chosen(), await isSubscribed()]).toEqual([[], false])
    await client.ask('PUT', `/api/contacts/${contactId}/topics`, {
      topics: { offers: { email: false } },
      method: 'call',
    })
    expect((await visit(path, 'POST')).text).toContain('You are subscribed.')
    expect([await chosen(), await isSubscribed()]).toEqual([
      [
        ['news', true, 'Sluice double opt-in'],
        ['offers', false, 'call'],
      ],
      true,
    ])
  })

  it('is by one link for as many as a business can have', async () => {
    await useTemplate()
    const keys = Array.from({ length: MAX_TOPICS_EVER }, (_, n) => `topic_${n}_${'a'.repeat(50)}`)
    await addTopics(service.sql, client.tenant.businessId, Object.fromEntries(keys.map((key) => [key, {}])))
    expect((await ask(keys)).status).toBe(200)
    expect((await visit(await mailedPath(), 'POST')).status).toBe(200)
    expect(await chosen()).toHaveLength(keys.length)
  })
})

it('a token names what it was made of, and no other text is one', async () => {
  const key = await loadMessageKey(service.sql)
  const confirmation = fc.record({
    businessId: fc.uuid(),
    contactId: fc.uuid(),
    addressHash: fc.uuid().map((id) => id.replaceAll('-', '')),
    askedAt: fc.nat(2 ** 31).map((n) => n * 1000),
    topics: fc.uniqueArray(fc.constantFrom('news', 'a_b', 'offers').map(hashTopic), { maxLength: 3 }),
  })
  fc.assert(
    fc.property(confirmation, fc.nat(), (made, place) => {
      const token = writeConfirmation(key, made)
      expect(readConfirmation(key, token)).toEqual(made)
      const at = place % token.length
      const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
      expect(readConfirmation(key, changed)).toBeNull()
    }),
  )
})
