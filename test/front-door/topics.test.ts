/** `/api/topics` (topics, "Topics and the preference centre"). */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { TopicData, TopicsData, TopicUsesData } from '../../src/front-door/routes/topics/schemas.ts'
import { openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'
import { type Answer, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { type SimulationClient, openClient } from './simulation-client.ts'

const service = useOpened(() => openService({}, { withoutWorkers: true }))
let client: SimulationClient
beforeEach(async () => {
  client = await openClient(service)
})

const NEWS = {
  key: 'newsletter',
  channels: ['sms', 'email'],
  default: 'unsubscribed',
  names: { en: { name: 'Newsletter', description: 'Once a week.' }, 'pt-br': { name: 'Boletim' } },
}
const STORED = {
  ...NEWS,
  channels: ['email', 'sms'],
  names: { en: { name: 'Newsletter', description: 'Once a week.' }, 'pt-BR': { name: 'Boletim' } },
  visibility: 'public',
  defaultLanguage: 'en',
  position: 0,
  confirmationTemplate: null,
  status: 'active',
}
const post = (json: unknown = NEWS) => client.ask('POST', '/api/topics', json)
const patch = (json: unknown, key = 'newsletter') => client.ask('PATCH', `/api/topics/${key}`, json)
const remove = (key = 'newsletter') => client.ask('DELETE', `/api/topics/${key}`)
const topicOf = (answer: Answer) => dataOf(TopicData, answer)['topic']
const code = ({ status, body }: Answer) => [status, body.error?.code]
const pathsOf = ({ body }: Answer) => body.error?.issues?.map(({ path }) => path)
const keysOf = async (query = '') => {
  const data = dataOf(TopicsData, await client.ask('GET', `/api/topics${query}`))
  return (data['topics'] as { key: string }[]).map(({ key }) => key)
}

describe('a topic', () => {
  it('is created, read, listed by position and key, changed and deleted, each with its entry in the audit log', async () => {
    expect(topicOf(await post())).toEqual(STORED)
    expect(topicOf(await client.ask('GET', '/api/topics/newsletter'))).toEqual(STORED)
    await post({ ...NEWS, key: 'a_last', position: 2 })
    await post({
      ...NEWS,
      key: 'b',
      position: 1,
      visibility: 'private',
      default: 'subscribed',
      defaultLanguage: 'PT_br',
    })
    expect(await keysOf()).toEqual(['newsletter', 'b', 'a_last'])
    const change = {
      channels: ['email', 'sms', 'push'],
      position: 3,
      visibility: 'private',
      names: { de: { name: 'N' } },
    }
    expect(code(await patch(change))).toEqual([400, 'invalid_request'])
    expect(topicOf(await patch({ ...change, defaultLanguage: 'de' }))).toEqual({
      ...STORED,
      ...change,
      defaultLanguage: 'de',
    })
    expect(await keysOf()).toEqual(['b', 'a_last', 'newsletter'])
    expect((await patch({ position: 3 })).status).toBe(200)
    expect((await remove()).body.data).toEqual({ key: 'newsletter' })
    expect(code(await remove())).toEqual([404, 'not_found'])
    expect(code(await client.ask('GET', '/api/topics/newsletter'))).toEqual([404, 'not_found'])
    const entries = await service.sql<{ action: string; target: string }[]>`
      select action, target from audit_log where business_id = ${client.tenant.businessId} and target = 'newsletter' order by id`
    expect(entries.map(({ action }) => action)).toEqual(['topic.create', 'topic.update', 'topic.delete'])
  })

  it('keeps its key, its default and its channels', async () => {
    await post()
    expect(code(await post())).toEqual([409, 'locked'])
    expect(code(await patch({ default: 'subscribed' }))).toEqual([409, 'locked'])
    expect(code(await patch({ key: 'other' }))).toEqual([409, 'locked'])
    expect(code(await patch({ channels: ['sms', 'push'] }))).toEqual([409, 'locked'])
    expect((await patch({ key: 'newsletter', default: 'unsubscribed', channels: ['email', 'sms'] })).status).toBe(200)
    expect(topicOf(await client.ask('GET', '/api/topics/newsletter'))).toEqual(STORED)
  })

  it.each([
    ['key', { key: 'News' }],
    ['key', { key: 'a__b' }],
    ['key', { key: `a${'b'.repeat(64)}` }],
    ['channels', { channels: [] }],
    ['channels', { channels: ['email', 'email'] }],
    ['channels', { channels: ['webhook'] }],
    ['default', { default: true }],
    ['visibility', { visibility: 'hidden' }],
    ['names', { names: {} }],
    ['names.english', { names: { english_language_of_all: { name: 'x' } } }],
    ['names.en.name', { names: { en: { name: 'n'.repeat(101) } } }],
    ['names.en.description', { names: { en: { name: 'n', description: 'd'.repeat(501) } } }],
    ['defaultLanguage', { defaultLanguage: 'fr' }],
    ['position', { position: 1.5 }],
    ['confirmationTemplate', { confirmationTemplate: 'none' }],
    ['confirmationTemplate', { confirmationTemplate: randomUUID() }],
  ])('is refused for its %s: %j', async (path, fault) => {
    const answer = await post({ ...NEWS, ...fault })
    expect(code(answer)).toEqual([400, 'invalid_request'])
    expect(pathsOf(answer)?.[0]).toMatch(new RegExp(`^${path}`))
  })

  it('needs a key, channels, a default and names', async () => {
    expect(pathsOf(await post({}))).toEqual(['key', 'channels', 'default', 'names'])
    expect((await post([])).status).toBe(400)
  })

  it('takes what is at each limit, and nothing past it', async () => {
    const languages = 'abcdefghijklmnopqrstuvwxyz'.split('').flatMap((letter) => [`${letter}a`, `${letter}e`])
    const named = (many: number) =>
      Object.fromEntries(
        languages.slice(0, many).map((one) => [one, { name: 'n'.repeat(100), description: 'd'.repeat(500) }]),
      )
    expect((await post({ ...NEWS, key: 'a'.repeat(64), names: named(50) })).status).toBe(200)
    expect((await post({ ...NEWS, key: 'b', names: named(51) })).status).toBe(400)
  })

  it('asks for confirmations by a template for email with the link', async () => {
    const [good, silent, sms] = await Promise.all([
      client.template('{{confirmUrl}}'),
      client.template('Hello'),
      client.template('{{confirmUrl}}', 'sms'),
    ])
    await post()
    expect(topicOf(await patch({ confirmationTemplate: good }))).toEqual({ ...STORED, confirmationTemplate: good })
    expect(pathsOf(await patch({ confirmationTemplate: silent }))).toEqual(['confirmationTemplate'])
    expect(pathsOf(await patch({ confirmationTemplate: sms }))).toEqual(['confirmationTemplate'])
    const variants = { en: { subject: 'Hello', text: 'No link' } }
    expect((await client.ask('PATCH', `/api/templates/${good}`, { variants })).status).toBe(400)
    expect(code(await client.ask('DELETE', `/api/templates/${good}`))).toEqual([409, 'in_use'])
    expect(topicOf(await patch({ confirmationTemplate: null }))).toEqual(STORED)
    expect((await client.ask('DELETE', `/api/templates/${good}`)).status).toBe(200)
  })
})

it('a business has at most 100 active topics, and 1,000 with archived ones', async () => {
  const { businessId } = client.tenant
  const fill = (from: number, to: number, archived: boolean) => service.sql`
    insert into topics (business_id, key, channels, default_on, is_public, names, default_language, position, archived)
    select ${businessId}, 't' || n, '{email}', true, true, '{"en":{"name":"T"}}', 'en', 0, ${archived}
    from generate_series(${from}::int, ${to}::int) n`
  await fill(1, 99, false)
  expect((await post()).status).toBe(200)
  expect(code(await post({ ...NEWS, key: 'more' }))).toEqual([409, 'limit_reached'])
  expect((await patch({ status: 'archived' })).status).toBe(200)
  expect((await post({ ...NEWS, key: 'more' })).status).toBe(200)
  expect(code(await patch({ status: 'active' }))).toEqual([409, 'limit_reached'])
  expect((await patch({ status: 'archived' }, 'more')).status).toBe(200)
  expect((await patch({ status: 'active' })).status).toBe(200)
  await fill(1001, 1899, true)
  await patch({ status: 'archived' })
  expect((await post({ ...NEWS, key: 'last' })).body.error?.code).toBe('limit_reached')
  await remove('more')
  expect((await post({ ...NEWS, key: 'last' })).status).toBe(200)
  expect(await keysOf('?status=archived')).toHaveLength(900)
  expect((await client.ask('GET', '/api/topics?status=all')).status).toBe(400)
})

it('says how many get it by each channel, and is of its business alone', async () => {
  const { businessId } = client.tenant
  await post()
  await post({ ...NEWS, key: 'notices', default: 'subscribed' })
  const [ada, bob] = [randomUUID(), randomUUID()]
  await service.sql`
    insert into subscriptions (business_id, contact_id, channel, subscribed, method, recorded_at)
    values (${businessId}, ${ada}, 'email', true, 'x', 1), (${businessId}, ${bob}, 'email', true, 'x', 1),
      (${businessId}, ${ada}, 'sms', false, 'x', 1)`
  await service.sql`
    insert into topic_choices (business_id, contact_id, topic, channel, subscribed, method, recorded_at)
    values (${businessId}, ${ada}, 'newsletter', 'email', true, 'x', 1), (${businessId}, ${ada}, 'newsletter', 'sms', true, 'x', 1),
      (${businessId}, ${bob}, 'notices', 'email', false, 'x', 1)`
  const uses = async (key: string) => dataOf(TopicUsesData, await client.ask('GET', `/api/topics/${key}/uses`))
  expect(await uses('newsletter')).toEqual({ subscribers: { email: 1, sms: 0 }, campaigns: [] })
  expect(await uses('notices')).toEqual({ subscribers: { email: 1, sms: 0 }, campaigns: [] })
  expect(code(await remove())).toEqual([409, 'in_use'])
  const other = await createBusiness(service.sql)
  const speak = speakTo(service.url)
  const asOther = (method: string, json?: unknown) =>
    speak(method, '/api/topics/newsletter', { key: other.secretKey, ...(json !== undefined && { json }) })
  expect((await asOther('GET')).status).toBe(404)
  expect((await asOther('PATCH', { position: 1 })).status).toBe(404)
  expect((await asOther('DELETE')).status).toBe(404)
  expect((await speak('GET', '/api/topics', { key: other.publishableKey })).status).toBe(403)
})

it.each<[string, object, boolean]>([
  [
    'a condition of a branch',
    { rule: { attribute: 'subscribed', channel: 'email', topic: 'newsletter', operator: 'is_true' } },
    true,
  ],
  ['a custom field of that name', { traits: { topic: 'newsletter' } }, false],
])('a campaign names a topic, or does not, with %s', async (_, fields, names) => {
  await post()
  const step =
    'rule' in fields ? { type: 'branch', ...fields, steps: [], otherwise: [] } : { type: 'update', ...fields }
  const made = await client.ask('POST', '/api/campaigns', { name: 'One', trigger: { event: 'seen' }, steps: [step] })
  expect(made.status).toBe(200)
  const { campaigns } = dataOf(TopicUsesData, await client.ask('GET', '/api/topics/newsletter/uses')) as {
    campaigns: object[]
  }
  expect(campaigns).toHaveLength(names ? 1 : 0)
  expect((await patch({ status: 'archived' })).status).toBe(names ? 409 : 200)
})
