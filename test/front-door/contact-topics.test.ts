/** Choices of topics over HTTP: `/api/contacts/{id}/topics`, `subscriptions/batch`, and the contact itself. */
import { beforeEach, describe, expect, it } from 'vitest'
import { ContactData } from '../../src/front-door/routes/contacts/reply-schemas.ts'
import { ContactTopicsData, SavedTopicsData } from '../../src/front-door/routes/contacts/topics.ts'
import { openService } from '../support/service.ts'
import { addTopics } from '../support/topics.ts'
import { useOpened } from '../support/use-opened.ts'
import type { Answer } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { type SimulationClient, openClient } from './simulation-client.ts'

const service = useOpened(() => openService({}))
let client: SimulationClient
let contactId: string
beforeEach(async () => {
  client = await openClient(service)
  await addTopics(service.sql, client.tenant.businessId, { news: {}, offers: { defaultOn: true } })
  contactId = await identify('ada@x.io')
})

async function identify(email: string): Promise<string> {
  const { body } = await client.ask('POST', '/api/sdk/identify', { identity: { email } })
  return (body.data as { contactId: string }).contactId
}
const put = (topics: unknown, method = 'form', id = contactId) =>
  client.ask('PUT', `/api/contacts/${id}/topics`, { topics, method })
const saved = async (topics: unknown) => dataOf(SavedTopicsData, await put(topics))
const read = async (query = '', id = contactId) =>
  dataOf(ContactTopicsData, await client.ask('GET', `/api/contacts/${id}/topics${query}`)) as unknown as {
    topics: Record<string, Record<string, { subscribed: boolean; choice: boolean | null; method: string | null }>>
    history: { topic: string; channel: string; subscribed: boolean; at: string; method: string }[]
    nextCursor: string | null
  }
const pathsOf = ({ body }: Answer) => body.error?.issues?.map(({ path }) => path)
const code = ({ status, body }: Answer) => [status, body.error?.code]

describe('a contact', () => {
  it('has the default of each topic until it chooses, and its choices with their history', async () => {
    const none = { choice: null, at: null, method: null }
    expect((await read()).topics).toEqual({
      news: { email: { subscribed: false, ...none }, sms: { subscribed: false, ...none } },
      offers: { email: { subscribed: true, ...none }, sms: { subscribed: true, ...none } },
    })
    const first = await saved({ news: { email: true, sms: null }, offers: { sms: false } })
    expect(first['warnings']).toHaveLength(1)
    await client.ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email: true, method: 'form' })
    expect((await saved({ news: { email: true } }))['warnings']).toBeUndefined()
    await put({ news: { email: false } }, 'support')
    const { topics, history } = await read()
    expect(topics['news']?.['email']).toMatchObject({ subscribed: false, choice: false, method: 'support' })
    expect(topics['offers']?.['sms']).toMatchObject({ subscribed: false, choice: false, method: 'form' })
    expect(history.map((one) => [one.topic, one.channel, one.subscribed, one.method])).toEqual([
      ['news', 'email', false, 'support'],
      ['news', 'email', true, 'form'],
      ['offers', 'sms', false, 'form'],
      ['news', 'email', true, 'form'],
    ])
    const { contact } = dataOf(ContactData, await client.ask('GET', `/api/contacts/${contactId}`)) as {
      contact: { topics: object; subscriptions: object }
    }
    expect(contact).toMatchObject({
      topics: { news: { email: false, sms: false }, offers: { email: true, sms: false } },
      subscriptions: { email: true, sms: false },
    })
  })

  it('has pages of its history', async () => {
    for (const email of [true, false, true]) await put({ news: { email } })
    const first = await read('?limit=2')
    expect(first.history.map(({ subscribed }) => subscribed)).toEqual([true, false])
    const second = await read(`?limit=2&cursor=${first.nextCursor}`)
    expect([second.history.map(({ subscribed }) => subscribed), second.nextCursor]).toEqual([[true], null])
    expect((await client.ask('GET', `/api/contacts/${contactId}/topics?cursor=none`)).status).toBe(400)
  })

  it.each([
    [{}, ['topics']],
    [{ news: {} }, ['topics.news']],
    [{ news: { email: 'yes' } }, ['topics.news.email']],
    [{ news: { sms: 'pending' } }, ['topics.news.sms']],
    [{ news: { fax: true } }, ['topics.news.fax']],
    [{ news: { email: true }, none: { email: true } }, ['topics.none']],
    [{ news: { email: true, push: true } }, ['topics.news.push']],
  ])('records nothing of %j', async (topics, paths) => {
    const answer = await put(topics)
    expect([code(answer), pathsOf(answer)]).toEqual([[400, 'invalid_request'], paths])
    expect((await read()).history).toEqual([])
  })

  it('repeats no long key that it does not know', async () => {
    const answer = await put({ ['x'.repeat(100_000)]: { email: true } })
    expect(pathsOf(answer)).toEqual([`topics.${'x'.repeat(64)}`])
  })

  it('that is unknown is 404, and the audit log names the topics and nothing else', async () => {
    expect(code(await put({ news: { email: true } }, 'form', client.tenant.businessId))).toEqual([404, 'not_found'])
    await put({ news: { email: true } })
    const [entry] = await service.sql<{ details: object }[]>`
      select details from audit_log where business_id = ${client.tenant.businessId} and action = 'contact.consent'`
    expect(entry?.details).toEqual({ fields: ['topic news email'] })
  })
})

describe('subscriptions/batch', () => {
  const post = async (...subscriptions: object[]) => {
    const { status, body } = await client.ask('POST', '/api/subscriptions/batch', { subscriptions })
    expect(status).toBe(200)
    return body.data as { recorded: number; failures: { index: number; error: string }[] }
  }
  const identity = { email: 'ada@x.io' }
  const item = (topics: object, at: string, more: object = {}) => ({ identity, topics, method: 'import', at, ...more })

  it('takes topics beside channels or alone; the latest counts, of two at one instant the opt-out', async () => {
    const done = await post(
      item({ news: { email: true } }, '2025-01-02', { email: true }),
      item({ news: { email: false } }, '2025-01-01'),
      item({ offers: { email: false, sms: true } }, '2025-01-01'),
      item({ offers: { email: true, sms: false } }, '2025-01-01'),
    )
    expect(done).toMatchObject({ recorded: 4, failures: [] })
    const { topics, history } = await read()
    const is = (topic: string, channel: string) => topics[topic]?.[channel]?.choice
    expect([is('news', 'email'), is('offers', 'email'), is('offers', 'sms')]).toEqual([true, false, false])
    expect(history).toHaveLength(6)
    await post(item({ news: { email: false } }, '2025-01-01'))
    expect((await read()).history).toHaveLength(6)
  })

  it('fails an item with an unknown topic alone', async () => {
    const done = await post(
      item({ none: { email: true } }, '2025-01-02', { sms: true }),
      item({ news: { push: true } }, '2025-01-02'),
      item({ news: { email: 'pending' } }, '2025-01-02'),
      item({}, '2025-01-02'),
      item({ news: { sms: true } }, '2025-01-02'),
    )
    expect(done.failures.map(({ index }) => index)).toEqual([0, 1, 2, 3])
    expect(done.recorded).toBe(1)
    expect((await read()).history).toHaveLength(1)
    const { body } = await client.ask('GET', `/api/contacts/${contactId}`)
    expect(body.data).toMatchObject({ contact: { subscriptions: { sms: false } } })
  })

  it('never changes a later opt-out', async () => {
    await put({ news: { email: false } })
    await post(item({ news: { email: true } }, '2025-01-02'))
    expect((await read()).topics['news']?.['email']?.choice).toBe(false)
  })
})
