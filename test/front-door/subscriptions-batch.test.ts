/** `POST /api/subscriptions/batch` (campaigns, "Consent"). */
import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_CHOICES, readChoice } from '../../src/front-door/routes/contacts/subscriptions-batch.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { speakTo } from './http-client.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let tenant: TestBusiness
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { rateLimit: 100_000 })
})

const ask = (method: string, path: string, json?: unknown) =>
  speakTo(service.url)(method, path, { key: tenant.secretKey, json })
const batch = (subscriptions: unknown) => ask('POST', '/api/subscriptions/batch', { subscriptions })
const choice = (more: object = {}, identity: object = { email: 'ada@x.io' }) => ({
  identity,
  email: true,
  method: 'form',
  at: '2025-03-01T09:30:00Z',
  ...more,
})

async function find(query: string) {
  const { body } = await ask('GET', `/api/contacts?${query}`)
  return (body.data['contacts'] as { contactId: string; subscriptions: Record<string, boolean> }[])[0]
}

describe('a batch of choices', () => {
  it('records them, of contacts that are there and of new ones, and a repeat changes nothing', async () => {
    await ask('POST', '/api/sdk/identify', { identity: { email: 'ada@x.io' } })
    const sent = [
      choice(),
      choice({ sms: true, email: false }, { email: 'bob@x.io', platformCustomerId: 7 }),
      choice({ email: false, at: Date.parse('2025-03-02') }),
      choice({ at: '2025-03-01T00:00:00Z', push: true }, { platformCustomerId: '7' }),
    ]
    for (const order of [sent, sent.toReversed(), sent]) {
      const { status, body } = await batch(order)
      expect([status, body.data]).toEqual([200, { received: 4, recorded: 4, queued: 0, failed: 0, failures: [] }])
      expect((await find('email=ada@x.io'))?.subscriptions).toMatchObject({ email: false })
      const bob = await find('email=bob@x.io')
      expect(bob?.subscriptions).toEqual({ email: false, sms: true, whatsapp: false, push: true })
      expect(await find('platformCustomerId=7')).toMatchObject({ contactId: bob?.contactId })
    }
    const [{ many }] = await service.sql<[{ many: number }]>`
      select count(*)::int as many from consent_history where business_id = ${tenant.businessId}`
    expect(many).toBe(6)
    const entries = await service.sql`
      select times, details from audit_log where business_id = ${tenant.businessId} and action = 'contact.consent_batch'`
    expect(entries).toEqual([{ times: 3, details: { recorded: 4 } }])
  })

  it('is not over an opt-out that came later, and stands before a page that comes after it', async () => {
    await batch([choice()])
    const { contactId } = (await find('email=ada@x.io'))!
    await ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email: false, method: 'page' })
    await batch([choice(), choice({ at: '2025-06-01T00:00:00Z' })])
    expect((await find('email=ada@x.io'))?.subscriptions).toMatchObject({ email: false })
  })

  it.each<[object | string, string]>([
    [choice({}, {}), 'identity has no usable field'],
    [choice({}, { email: 'guest@guest' }), 'identity has no usable field'],
    [choice({ email: undefined }), 'at least one of email, sms, whatsapp, push and topics is required'],
    [choice({ email: 'yes' }), 'email'],
    [choice({ at: undefined }), 'at'],
    [choice({ at: 'yesterday' }), 'at must be a real ISO 8601 date'],
    [choice({ at: '2199-01-01' }), 'at must not be'],
    [choice({ method: '' }), 'method'],
    [choice({ method: 'x'.repeat(65) }), 'method'],
    [choice({ method: 'a\u0000' }), 'method must not hold NUL'],
    ['text', ''],
  ])('fails the item %j alone', async (item, error) => {
    const { status, body } = await batch([item, choice()])
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ received: 2, recorded: 1, failed: 1, failures: [{ index: 0 }] })
    expect((body.data['failures'] as { error: string }[])[0]?.error).toContain(error)
    expect((await find('email=ada@x.io'))?.subscriptions).toMatchObject({ email: true })
  })

  it('takes no choice of the future, however near', () => {
    const now = Date.parse('2026-03-01T00:00:00Z')
    const read = (at: number) => readChoice(choice({ at }), { country: null }, now)
    expect(read(now)).toMatchObject({ choice: { at: now } })
    expect(read(now + 1)).toMatchObject({ error: 'at must not be in the future' })
  })

  it(`has 1 to ${MAX_CHOICES} items`, async () => {
    const many = Array.from({ length: MAX_CHOICES }, (_, no) => choice({}, { email: `p${no}@x.io` }))
    expect((await batch(many)).body.data).toMatchObject({ recorded: MAX_CHOICES, failed: 0 })
    for (const wrong of [[], [...many, choice()], null, 'x']) expect((await batch(wrong)).status).toBe(400)
    expect(await find(`email=p${MAX_CHOICES - 1}@x.io`)).toBeDefined()
  })

  it('needs a secret key', async () => {
    const path = '/api/subscriptions/batch'
    const json = { subscriptions: [choice()] }
    expect((await speakTo(service.url)('POST', path, { json })).status).toBe(401)
    expect((await speakTo(service.url)('POST', path, { key: tenant.publishableKey, json })).status).toBe(403)
  })
})
