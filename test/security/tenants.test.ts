/**
 * Tenants are separate (design, promise 10): whatever a business requests with ids and values of another, in path,
 * query or body, it learns nothing and changes nothing. Every route has its entry here, and a new one without an entry
 * fails.
 */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { PAGE_PATHS } from '../../src/dashboard/src/pages.ts'
import { listRoutes } from '../../src/front-door/app.ts'
import { hashEmail, writeConfirmation } from '../../src/messages/confirmations/token.ts'
import { callbackPath } from '../../src/messages/callbacks/token.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { writeLinkToken, writeOpenToken } from '../../src/messages/tracking/token.ts'
import { writeToken } from '../../src/messages/unsubscribe/token.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { type Answer, BROWSER, type Said, type Speak, speakTo } from '../front-door/http-client.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

/**
 * A business with a person, a field, a campaign, a segment, a template, identifications, and a second page of a
 * timeline.
 */
interface Tenant extends TestBusiness {
  word: string
  contactId: string
  campaignId: string
  backtestId: string
  segmentId: string
  templateId: string
  suppressionId: string
  messageId: string
  /** Cursors of the person's timeline and identifications, for the second pages. */
  timelineCursor: string
  identificationsCursor: string
}

const service = useOpened(() => openService({ TRUST_PROXY: 'true', SECRETS_KEY }))
let speak: Speak
let mine: Tenant
let theirs: Tenant
let theirsBefore: string
beforeAll(async () => {
  speak = speakTo(service.url)
  mine = await openTenant('mine')
  theirs = await openTenant('theirs')
  await untilComputed()
  await service.shipped()
  theirsBefore = await allOf(theirs)
})

/** Both businesses have the same person, with the same email, phone, customer id, key and visitor. */
const PERSON = { email: 'ann@x.io', phone: '+972541234567', platformCustomerId: 7 }
const VISITOR = '5'.repeat(32)
const CAPTURE = {
  visitorId: VISITOR,
  hits: [{ id: 'h1', kind: 'page_view', ageMs: 0, pageId: 'p1', url: 'https://a.example/' }],
}
const SPENT = { day: '2024-02-28', channel: 'email', campaign: 'same', amount: 1 }
const SAME = { identity: PERSON, idempotencyKey: 'same-key', visitorId: VISITOR }

async function openTenant(word: string): Promise<Tenant> {
  const business = await createBusiness(service.sql, { name: `The business of ${word}` })
  const said = async (method: string, path: string, json?: object) => {
    const answer = await speak(method, path, { key: business.secretKey, ...(json && { json }), headers: BROWSER })
    expect([path, answer.status]).toEqual([path, 200])
    return answer.body.data as Record<string, string & { campaignId: string; segmentId: string; templateId: string }>
  }
  const properties = { word }
  const traits = { [`field_of_${word}`]: word }
  const value = word === 'mine' ? 1 : 2
  const first = await said('POST', '/api/sdk/track', {
    event: `of_${word}`,
    ...SAME,
    properties,
    traits,
    value,
    tags: [word],
  })
  expect(first).toMatchObject({ isNew: true, deduped: false })
  await said('POST', '/api/sdk/track', { event: `again_${word}`, identity: PERSON, properties })
  for (const method of [word, `${word} again`]) await said('POST', '/api/sdk/identify', { identity: PERSON, method })
  const inPage = {
    event: `again_${word}`,
    visitorId: VISITOR,
    messageId: `message of ${word}`,
    details: { word },
    latest: { ageMs: 0, url: 'https://a.example/', utm: { source: `of_${word}`, campaign: `again_${word}` } },
  }
  await said('POST', '/api/sdk/browser/track', inPage)
  const drafted = { name: `Campaign of ${word}`, trigger: { event: `of_${word}` } }
  const { campaign } = await said('POST', '/api/campaigns', drafted)
  const tried = await said('POST', `/api/campaigns/${campaign?.campaignId}/backtest`, { from: Date.now() - 60_000 })
  const segmented = { name: `Segment of ${word}`, rule: { tag: word, operator: 'has' } }
  const { segment } = await said('POST', '/api/segments', segmented)
  const written = { channel: 'sms', variants: { en: { text: `of_${word}` } }, defaultLanguage: 'en' }
  const { template } = await said('POST', '/api/templates', { name: `Template of ${word}`, ...written })
  await said('POST', '/api/topics', topicOf(word))
  await said('PUT', '/api/messaging', { caps: [{ channel: 'sms', atMost: value, days: 1 }] })
  await said('PUT', '/api/channels/webhook', {
    provider: 'webhook',
    url: `https://${word}.example/`,
    secret: 'whsec_0123456789abcdef',
  })
  await said('POST', '/api/senders', { key: senderOf({ word }), channel: 'sms', provider: 'log' })
  await said('POST', '/api/channels/sms/test', { to: '+972501234567', templateId: template?.templateId })
  await said('POST', '/api/suppressions', {
    suppressions: [{ channel: 'email', address: `${word}@x.io`, reason: 'stop' }],
  })
  await said('POST', '/api/analytics/spend', { spend: [{ ...SPENT, source: `of_${word}`, amount: value }] })
  const { suppressions } = await said('GET', `/api/suppressions?address=${word}@x.io`)
  const [suppression] = suppressions as unknown as { suppressionId: string }[]
  const person = `/api/contacts/${first['contactId']}`
  const timeline = await said('GET', `${person}/timeline?limit=1`)
  const identifications = await said('GET', `${person}/identifications?limit=1`)
  const [message] = await service.sql<[{ id: string }]>`
    insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, claimed_at, states, template_id)
    values (${business.businessId}, gen_random_uuid(), ${campaign?.campaignId ?? ''}, gen_random_uuid(), ${String(first['contactId'])},
      'a', 'email', 'unknown', ${Date.now()}, '[]', gen_random_uuid())
    returning id`
  return {
    ...business,
    word,
    messageId: message.id,
    contactId: String(first['contactId']),
    campaignId: campaign?.campaignId ?? '',
    backtestId: tried['backtestId'] ?? '',
    segmentId: segment?.segmentId ?? '',
    templateId: template?.templateId ?? '',
    suppressionId: suppression?.suppressionId ?? '',
    timelineCursor: timeline['nextCursor'] ?? '',
    identificationsCursor: identifications['nextCursor'] ?? '',
  }
}

/** Waits until the segments have their members and the history contains them. */
async function untilComputed(): Promise<void> {
  for (;;) {
    const [{ waiting }] = await service.sql<[{ waiting: boolean }]>`
      select exists (select from segment_rules where state <> 'current' or switched_at is not null) as waiting`
    if (!waiting) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Returns all data of a business, as its own key sees it and as the databases store it. */
async function allOf({ secretKey, businessId, contactId, campaignId, segmentId, templateId }: Tenant): Promise<string> {
  const paths = ['contact', 'contact/timeline', 'contact/identifications', '/api/custom-fields', '/api/campaigns'].map(
    (path) => path.replace('contact', `/api/contacts/${contactId}`),
  )
  const ofSegment = ['', '/members', `/explain?contactId=${contactId}`].map(
    (rest) => `/api/segments/${segmentId}${rest}`,
  )
  const ofTemplate = [
    '/api/templates',
    `/api/templates/${templateId}`,
    '/api/channels',
    '/api/channels/sms/log',
    '/api/messaging',
    '/api/topics',
    '/api/suppressions',
    '/api/analytics/spend',
  ]
  const read = [...paths, '/api/segments', ...ofSegment, `/api/campaigns/${campaignId}`, ...ofTemplate].map((path) =>
    speak('GET', path, { key: secretKey }),
  )
  const answers = (await Promise.all(read)).map(({ status, text }) => `${status} ${withoutScore(text)}`)
  const tables = await service.sql<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.column_name = 'business_id' and c.table_schema = 'public' and t.table_type = 'BASE TABLE'`
  // The use of a key is recorded once a minute, possibly in the middle of a slow run.
  const rows = tables.map(async ({ name }) => {
    const found = await service.sql<{ row: string }[]>`
      select (to_jsonb(t) - 'last_used_at')::text as row from ${service.sql(name)} t
      where business_id = ${businessId} order by 1`
    return `${name}: ${found.map(({ row }) => row).join('\n')}`
  })
  return [...answers, ...(await Promise.all(rows))].join('\n')
}

/** Removes the score, which depends on the instant. */
const withoutScore = (text: string) => text.replace(/"engagement":(null|\{[^}]*\})/, '')

/** Returns what a business must not learn about another: its texts and all its ids. */
const wordsOf = ({
  word,
  businessId,
  contactId,
  campaignId,
  segmentId,
  templateId,
  suppressionId,
  secretKey,
}: Tenant): string[] => [
  `of_${word}`,
  `again_${word}`,
  `"${word}"`,
  `"${word} again"`,
  businessId,
  contactId,
  campaignId,
  segmentId,
  templateId,
  suppressionId,
  secretKey,
]

interface Crossing {
  what: string
  ask: () => Promise<Answer>
  status: number
  /** Code of the refusal. */
  code?: string
  /** The expected data of a success: one's own. */
  data?: () => object
}

const as =
  (key: () => string | undefined) =>
  (method: string, path: () => string, json?: () => object, more: Said = {}) =>
  () => {
    const sent = json?.()
    return speak(method, path(), { key: key(), ...(sent && { json: sent }), ...more })
  }
const ask = as(() => mine.secretKey)
const askPublishably = as(() => mine.publishableKey)
const topicOf = (word: string) => ({
  key: `of_${word}`,
  channels: ['email'],
  default: 'unsubscribed',
  names: { en: { name: word } },
})
const theirTopic =
  (rest = '') =>
  () =>
    `/api/topics/of_${theirs.word}${rest}`

const NOT_FOUND = { status: 404, code: 'not_found' }
const MISMATCH = { status: 403, code: 'business_mismatch' }
const senderOf = ({ word }: { word: string }): string => `s_${word.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`
const theirSender = (method: string, rest = '', json?: object) => ({
  what: 'the key of a sender',
  ask: ask(method, () => `/api/senders/${senderOf(theirs)}${rest}`, ...(json === undefined ? [] : [() => json])),
  ...NOT_FOUND,
})
const theirContact =
  (rest = '') =>
  () =>
    `/api/contacts/${theirs.contactId}${rest}`
const theirCampaign =
  (rest = '') =>
  () =>
    `/api/campaigns/${theirs.campaignId}${rest}`
const theirBacktest = () => theirCampaign(`/backtest/${theirs.backtestId}`)()
const theirSegment =
  (rest = '') =>
  () =>
    `/api/segments/${theirs.segmentId}${rest}`
const theirTemplate =
  (rest = '') =>
  () =>
    `/api/templates/${theirs.templateId}${rest}`
const namesTheirs = () => ({ not: { segment: theirs.segmentId, operator: 'is_member' } })
const ownSteps = () => JSON.stringify([{ event: `of_${mine.word}` }, { event: `again_${mine.word}` }])
const ASYNC = { headers: { prefer: 'respond-async' } }

/** Repeats the other business's key, person and visitor. Here, the event is new, and belongs to one's own business. */
const ownEvent = () => ({ event: 'mine', ...SAME, idempotencyKey: randomUUID() })

const crossedLink = async () => {
  const key = await loadMessageKey(service.sql)
  const { businessId } = mine
  return `/u/${writeToken(key, { businessId, contactId: theirs.contactId, channel: 'email' })}`
}

const crossedConfirmation = async () => {
  const key = await loadMessageKey(service.sql)
  const asked = { addressHash: hashEmail(key, mine.businessId, 'theirs@x.io'), askedAt: Date.now(), topics: [] }
  return `/confirm/${writeConfirmation(key, { businessId: mine.businessId, contactId: theirs.contactId, ...asked })}`
}

/** Returns the path of a callback for their email channel, changed to another channel. */
const crossedCallback = async (channel: string, provider: string) => {
  const key = await loadMessageKey(service.sql)
  const path = callbackPath(key, {
    businessId: theirs.businessId,
    channel: 'email',
    sender: 'default',
    provider: 'resend',
  })
  return `/api/hooks/${channel}/${provider}/${path.split('/').at(-1)}`
}

/**
 * Requests by method and path, each with the other business's values wherever a caller can put them. `null`: the route
 * does not depend on a business.
 */
const CROSSINGS: Record<string, Crossing[] | null> = {
  'POST /api/sdk/track': [
    {
      what: 'a businessId',
      ask: ask(
        'POST',
        () => '/api/sdk/track',
        () => ({ ...ownEvent(), businessId: theirs.businessId }),
      ),
      ...MISMATCH,
    },
    {
      what: 'a person, a visitor and a customer id',
      ask: ask('POST', () => '/api/sdk/track', ownEvent),
      status: 200,
      data: () => ({ contactId: mine.contactId, deduped: false }),
    },
    {
      what: 'an id of a contact as a customer id',
      ask: ask(
        'POST',
        () => '/api/sdk/track',
        () => ({ event: 'e', identity: { platformCustomerId: theirs.contactId } }),
      ),
      status: 200,
      data: () => ({ isNew: true }),
    },
  ],
  'POST /api/sdk/track/batch': [
    {
      what: 'a businessId',
      ask: ask(
        'POST',
        () => '/api/sdk/track/batch',
        () => ({ events: [{ event: 'e', identity: PERSON }], businessId: theirs.businessId }),
      ),
      ...MISMATCH,
    },
    {
      what: 'a businessId in an item',
      ask: ask(
        'POST',
        () => '/api/sdk/track/batch',
        () => ({ events: [{ event: 'e', identity: PERSON, businessId: theirs.businessId }] }),
      ),
      status: 200,
      data: () => ({ recorded: 0, failed: 1 }),
    },
    {
      what: 'a person and a key',
      ask: ask(
        'POST',
        () => '/api/sdk/track/batch',
        () => ({ events: [{ event: 'e', identity: PERSON, idempotencyKey: randomUUID() }] }),
      ),
      status: 200,
      data: () => ({ recorded: 1, deduped: 0 }),
    },
  ],
  'POST /api/sdk/identify': [
    {
      what: 'a businessId',
      ask: ask(
        'POST',
        () => '/api/sdk/identify',
        () => ({ identity: PERSON, businessId: theirs.businessId }),
      ),
      ...MISMATCH,
    },
    {
      what: 'a businessId, from a page with a publishable key',
      ask: askPublishably(
        'POST',
        () => '/api/sdk/identify',
        () => ({ identity: PERSON, businessId: theirs.businessId }),
      ),
      ...MISMATCH,
    },
    {
      what: 'a person and a visitor',
      ask: ask(
        'POST',
        () => '/api/sdk/identify',
        () => ({ identity: PERSON, visitorId: SAME.visitorId, profile: { name: 'Mine' } }),
      ),
      status: 200,
      data: () => ({ contactId: mine.contactId }),
    },
  ],
  'OPTIONS /api/sdk/identify': null,
  'POST /api/sdk/identify/batch': [
    {
      what: 'a businessId',
      ask: ask(
        'POST',
        () => '/api/sdk/identify/batch',
        () => ({ identifies: [{ identity: PERSON }], businessId: theirs.businessId }),
      ),
      ...MISMATCH,
    },
    {
      what: 'a businessId in an item',
      ask: ask(
        'POST',
        () => '/api/sdk/identify/batch',
        () => ({ identifies: [{ identity: PERSON, businessId: theirs.businessId }] }),
      ),
      status: 200,
      data: () => ({ updated: 0, failed: 1 }),
    },
    {
      what: 'a person',
      ask: ask(
        'POST',
        () => '/api/sdk/identify/batch',
        () => ({ identifies: [{ identity: PERSON, profile: { name: 'Mine' } }] }),
      ),
      status: 200,
      data: () => ({ created: 0, updated: 1 }),
    },
  ],
  'POST /api/sdk/browser/track': [
    {
      what: 'a businessId, from a page with a publishable key',
      ask: askPublishably(
        'POST',
        () => '/api/sdk/browser/track',
        () => ({ event: 'e', visitorId: VISITOR, businessId: theirs.businessId }),
      ),
      ...MISMATCH,
    },
    {
      what: 'a visitor and a message',
      ask: askPublishably(
        'POST',
        () => '/api/sdk/browser/track',
        () => ({ event: 'e', visitorId: VISITOR, messageId: 'message of theirs' }),
        { headers: BROWSER },
      ),
      status: 200,
      data: () => ({ contactId: mine.contactId, deduped: false }),
    },
  ],
  'OPTIONS /api/sdk/browser/track': null,
  'POST /api/sdk/browser/capture': [
    {
      what: 'a businessId, from a page with a publishable key',
      ask: askPublishably(
        'POST',
        () => '/api/sdk/browser/capture',
        () => ({ ...CAPTURE, businessId: theirs.businessId }),
      ),
      ...MISMATCH,
    },
    {
      what: 'a visitor and hits',
      ask: askPublishably(
        'POST',
        () => '/api/sdk/browser/capture',
        () => CAPTURE,
        { headers: BROWSER },
      ),
      status: 200,
      data: () => ({ received: 1 }),
    },
  ],
  'OPTIONS /api/sdk/browser/capture': null,
  'POST /api/sdk/browser/push': [
    {
      what: 'a businessId, from a page with a publishable key',
      ask: askPublishably(
        'POST',
        () => '/api/sdk/browser/push',
        () => ({ visitorId: VISITOR, businessId: theirs.businessId }),
      ),
      ...MISMATCH,
    },
    {
      what: 'a visitor',
      ask: askPublishably(
        'POST',
        () => '/api/sdk/browser/push',
        () => ({ visitorId: VISITOR, unsubscribe: true }),
        { headers: BROWSER },
      ),
      status: 200,
      data: () => ({ publicKey: null }),
    },
  ],
  'OPTIONS /api/sdk/browser/push': null,
  'GET /api/contacts': [
    ...['email=ann@x.io', 'phone=%2B972541234567', 'platformCustomerId=7'].map((query) => ({
      what: `the same ${query}, and a businessId`,
      ask: ask('GET', () => `/api/contacts?${query}&businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ contacts: [{ contactId: mine.contactId }] }),
    })),
    ...['query=ann@x', 'query=97254123', 'tag=mine'].map((query) => ({
      what: `a list of ${query}, and a businessId`,
      ask: ask('GET', () => `/api/contacts?${query}&businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ contacts: [{ contactId: mine.contactId }], nextCursor: null }),
    })),
    {
      what: 'a tag of theirs',
      ask: ask('GET', () => `/api/contacts?tag=${theirs.word}`),
      status: 200,
      data: () => ({ contacts: [], nextCursor: null }),
    },
    { what: 'a segment of theirs', ask: ask('GET', () => `/api/contacts?segment=${theirs.segmentId}`), ...NOT_FOUND },
  ],
  'GET /api/contacts/:contactId': [{ what: 'an id', ask: ask('GET', theirContact()), ...NOT_FOUND }],
  'GET /api/contacts/:contactId/timeline': [
    { what: 'an id', ask: ask('GET', theirContact('/timeline')), ...NOT_FOUND },
    {
      what: 'an id and a cursor',
      ask: ask('GET', () => `${theirContact('/timeline')()}?cursor=${theirs.timelineCursor}`),
      ...NOT_FOUND,
    },
    {
      what: 'a cursor',
      ask: ask('GET', () => `/api/contacts/${mine.contactId}/timeline?cursor=${theirs.timelineCursor}`),
      status: 200,
    },
  ],
  'GET /api/contacts/:contactId/identifications': [
    { what: 'an id', ask: ask('GET', theirContact('/identifications')), ...NOT_FOUND },
    {
      what: 'a cursor',
      ask: ask('GET', () => `/api/contacts/${mine.contactId}/identifications?cursor=${theirs.identificationsCursor}`),
      status: 200,
    },
  ],
  'PUT /api/contacts/:contactId/subscriptions': [
    {
      what: 'an id',
      ask: ask('PUT', theirContact('/subscriptions'), () => ({ email: true, method: 'form' })),
      ...NOT_FOUND,
    },
    {
      what: 'an id, without waiting',
      ask: ask('PUT', theirContact('/subscriptions'), () => ({ email: true, method: 'form' }), ASYNC),
      status: 202,
    },
  ],
  'GET /api/contacts/:contactId/topics': [{ what: 'an id', ask: ask('GET', theirContact('/topics')), ...NOT_FOUND }],
  'PUT /api/contacts/:contactId/topics': [
    {
      what: 'an id',
      ask: ask('PUT', theirContact('/topics'), () => ({
        topics: { [`of_${mine.word}`]: { email: true } },
        method: 'form',
      })),
      ...NOT_FOUND,
    },
  ],
  'POST /api/topics': [
    {
      what: 'a template',
      ask: ask(
        'POST',
        () => '/api/topics',
        () => ({ ...topicOf('crossed'), confirmationTemplate: theirs.templateId }),
      ),
      status: 400,
      code: 'invalid_request',
    },
  ],
  'GET /api/topics': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/topics?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ topics: [expect.objectContaining({ key: `of_${mine.word}` }) as unknown] }),
    },
  ],
  'GET /api/topics/:topicKey': [{ what: 'a key', ask: ask('GET', theirTopic()), ...NOT_FOUND }],
  'GET /api/topics/:topicKey/uses': [{ what: 'a key', ask: ask('GET', theirTopic('/uses')), ...NOT_FOUND }],
  'PATCH /api/topics/:topicKey': [
    { what: 'a key', ask: ask('PATCH', theirTopic(), () => ({ position: 1 })), ...NOT_FOUND },
  ],
  'DELETE /api/topics/:topicKey': [{ what: 'a key', ask: ask('DELETE', theirTopic()), ...NOT_FOUND }],
  'PATCH /api/contacts/:contactId': [
    {
      what: 'an id',
      ask: ask('PATCH', theirContact(), () => ({ addTags: ['x'], profile: { city: 'x' } })),
      ...NOT_FOUND,
    },
  ],
  'DELETE /api/contacts/:contactId': [
    { what: 'an id', ask: ask('DELETE', theirContact()), ...NOT_FOUND },
    { what: 'an id, without waiting', ask: ask('DELETE', theirContact(), undefined, ASYNC), status: 202 },
  ],
  'GET /api/custom-fields': [
    {
      what: 'nothing',
      ask: ask('GET', () => `/api/custom-fields?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ customFields: [{ key: 'field_of_mine' }] }),
    },
  ],
  'POST /api/segments': [
    {
      what: 'a businessId and an id',
      ask: ask(
        'POST',
        () => '/api/segments',
        () => ({
          name: 'Mine too',
          rule: { tag: 'x', operator: 'has' },
          businessId: theirs.businessId,
          segmentId: theirs.segmentId,
        }),
      ),
      status: 200,
    },
    {
      what: 'a rule that names a segment of theirs',
      ask: ask(
        'POST',
        () => '/api/segments',
        () => ({ name: 'Theirs too', rule: namesTheirs() }),
      ),
      status: 400,
      code: 'invalid_request',
    },
  ],
  'GET /api/segments': [
    {
      what: 'nothing',
      ask: ask('GET', () => `/api/segments?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({
        segments: expect.arrayContaining([expect.objectContaining({ segmentId: mine.segmentId })]) as unknown,
      }),
    },
  ],
  'POST /api/segments/preview': [
    {
      what: 'a rule that names a segment of theirs',
      ask: ask(
        'POST',
        () => '/api/segments/preview',
        () => ({ rule: namesTheirs() }),
      ),
      status: 400,
      code: 'invalid_request',
    },
    {
      what: 'a tag of theirs',
      ask: ask(
        'POST',
        () => '/api/segments/preview',
        () => ({ rule: { tag: theirs.word, operator: 'has' } }),
      ),
      status: 200,
      data: () => ({ count: 0, sample: [] }),
    },
  ],
  'GET /api/segments/:segmentId': [{ what: 'an id', ask: ask('GET', theirSegment()), ...NOT_FOUND }],
  'PATCH /api/segments/:segmentId': [
    { what: 'an id', ask: ask('PATCH', theirSegment(), () => ({ name: 'Mine now' })), ...NOT_FOUND },
    {
      what: 'a rule that names a segment of theirs',
      ask: ask(
        'PATCH',
        () => `/api/segments/${mine.segmentId}`,
        () => ({ rule: namesTheirs() }),
      ),
      status: 400,
      code: 'invalid_request',
    },
  ],
  'DELETE /api/segments/:segmentId': [{ what: 'an id', ask: ask('DELETE', theirSegment()), ...NOT_FOUND }],
  'GET /api/segments/:segmentId/members': [
    { what: 'an id', ask: ask('GET', theirSegment('/members')), ...NOT_FOUND },
    { what: 'an id and an instant', ask: ask('GET', theirSegment('/members?at=2199-01-01')), ...NOT_FOUND },
  ],
  'GET /api/segments/:segmentId/changes': [{ what: 'an id', ask: ask('GET', theirSegment('/changes')), ...NOT_FOUND }],
  'GET /api/segments/:segmentId/history': [{ what: 'an id', ask: ask('GET', theirSegment('/history')), ...NOT_FOUND }],
  'GET /api/segments/:segmentId/explain': [
    {
      what: 'an id',
      ask: ask('GET', () => `${theirSegment('/explain')()}?contactId=${mine.contactId}`),
      ...NOT_FOUND,
    },
    {
      what: 'the id of a contact',
      ask: ask('GET', () => `/api/segments/${mine.segmentId}/explain?contactId=${theirs.contactId}`),
      ...NOT_FOUND,
    },
  ],
  'GET /api/segment-fields': [
    {
      what: 'a businessId and a tag of theirs',
      ask: ask('GET', () => `/api/segment-fields?businessId=${theirs.businessId}&query=${theirs.word}`),
      status: 200,
      data: () => ({ groups: expect.arrayContaining([{ group: 'Tags', fields: [] }]) as unknown }),
    },
  ],
  'POST /api/campaigns': [
    {
      what: 'a businessId and an id',
      ask: ask(
        'POST',
        () => '/api/campaigns',
        () => ({
          name: 'Mine too',
          trigger: { event: 'e' },
          businessId: theirs.businessId,
          campaignId: theirs.campaignId,
        }),
      ),
      status: 200,
    },
  ],
  'GET /api/campaigns': [
    {
      what: 'nothing',
      ask: ask('GET', () => `/api/campaigns?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({
        campaigns: expect.arrayContaining([expect.objectContaining({ campaignId: mine.campaignId })]) as unknown,
      }),
    },
  ],
  'GET /api/campaigns/:campaignId': [{ what: 'an id', ask: ask('GET', theirCampaign()), ...NOT_FOUND }],
  'PATCH /api/campaigns/:campaignId': [
    {
      what: 'an id',
      ask: ask('PATCH', theirCampaign(), () => ({ name: 'mine' })),
      ...NOT_FOUND,
    },
  ],
  'DELETE /api/campaigns/:campaignId': [{ what: 'an id', ask: ask('DELETE', theirCampaign()), ...NOT_FOUND }],
  'POST /api/campaigns/:campaignId/duplicate': [
    { what: 'an id', ask: ask('POST', theirCampaign('/duplicate')), ...NOT_FOUND },
  ],
  'POST /api/campaigns/:campaignId/simulate': [
    { what: 'an id', ask: ask('POST', theirCampaign('/simulate'), () => ({ contact: {} })), ...NOT_FOUND },
    {
      what: 'the id of a contact',
      ask: ask(
        'POST',
        () => `/api/campaigns/${mine.campaignId}/simulate`,
        () => ({ contactId: theirs.contactId }),
      ),
      ...NOT_FOUND,
    },
  ],
  'POST /api/campaigns/:campaignId/backtest': [
    { what: 'an id', ask: ask('POST', theirCampaign('/backtest'), () => ({ from: 0, to: 1 })), ...NOT_FOUND },
  ],
  'GET /api/campaigns/:campaignId/backtest/:backtestId': [
    { what: 'an id', ask: ask('GET', theirBacktest), ...NOT_FOUND },
  ],
  'DELETE /api/campaigns/:campaignId/backtest/:backtestId': [
    { what: 'an id', ask: ask('DELETE', theirBacktest), ...NOT_FOUND },
  ],
  'POST /api/campaigns/:campaignId/test': [
    { what: 'an id', ask: ask('POST', theirCampaign('/test'), () => ({ to: 'ada@example.com' })), ...NOT_FOUND },
    {
      what: 'the id of a contact',
      ask: ask(
        'POST',
        () => `/api/campaigns/${mine.campaignId}/test`,
        () => ({ to: 'ada@example.com', contactId: theirs.contactId }),
      ),
      ...NOT_FOUND,
    },
  ],
  'POST /api/campaigns/:campaignId/pause': [{ what: 'an id', ask: ask('POST', theirCampaign('/pause')), ...NOT_FOUND }],
  'POST /api/campaigns/:campaignId/resume': [
    { what: 'an id', ask: ask('POST', theirCampaign('/resume')), ...NOT_FOUND },
  ],
  'POST /api/campaigns/:campaignId/archive': [
    { what: 'an id', ask: ask('POST', theirCampaign('/archive')), ...NOT_FOUND },
  ],
  'GET /api/campaigns/:campaignId/enrolments': [
    { what: 'an id', ask: ask('GET', theirCampaign('/enrolments')), ...NOT_FOUND },
  ],
  'GET /api/campaigns/:campaignId/explain': [
    {
      what: 'an id',
      ask: ask('GET', () => `/api/campaigns/${theirs.campaignId}/explain?contactId=${mine.contactId}`),
      ...NOT_FOUND,
    },
    {
      what: 'the id of a contact',
      ask: ask('GET', () => `/api/campaigns/${mine.campaignId}/explain?contactId=${theirs.contactId}`),
      ...NOT_FOUND,
    },
  ],
  'GET /api/campaigns/:campaignId/report': [{ what: 'an id', ask: ask('GET', theirCampaign('/report')), ...NOT_FOUND }],
  'GET /api/messages': [
    {
      what: 'a contact and a campaign',
      ask: ask('GET', () => `/api/messages?contactId=${theirs.contactId}&campaignId=${theirs.campaignId}`),
      status: 200,
      data: () => ({ messages: [] }),
    },
  ],
  'POST /api/messages': [
    {
      what: 'a template of theirs',
      ask: ask(
        'POST',
        () => '/api/messages',
        () => ({ to: { phone: '+972501234567' }, template: theirs.templateId }),
      ),
      ...NOT_FOUND,
    },
    {
      what: 'a contact of theirs',
      ask: ask(
        'POST',
        () => '/api/messages',
        () => ({ to: { contactId: theirs.contactId }, template: mine.templateId }),
      ),
      ...NOT_FOUND,
    },
    {
      what: 'a sender of theirs',
      ask: ask(
        'POST',
        () => '/api/messages',
        () => ({ to: { phone: '+972501234567' }, template: mine.templateId, sender: senderOf(theirs) }),
      ),
      status: 400,
      code: 'invalid_request',
    },
  ],
  'DELETE /api/messages': [
    {
      what: 'a businessId',
      ask: ask('DELETE', () => `/api/messages?address=ada@x.io&businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ erased: 0, hasMore: false }),
    },
  ],
  'GET /api/messages/:messageId': [
    { what: 'an id', ask: ask('GET', () => `/api/messages/${theirs.messageId}`), ...NOT_FOUND },
  ],
  'POST /api/messages/:messageId/settle': [
    {
      what: 'an id',
      ask: ask(
        'POST',
        () => `/api/messages/${theirs.messageId}/settle`,
        () => ({ state: 'sent' }),
      ),
      ...NOT_FOUND,
    },
  ],
  'POST /api/campaigns/:campaignId/publish': [
    { what: 'an id', ask: ask('POST', theirCampaign('/publish')), ...NOT_FOUND },
  ],
  'POST /api/templates': [
    {
      what: 'a businessId and an id',
      ask: ask(
        'POST',
        () => '/api/templates',
        () => ({
          name: 'Mine too',
          channel: 'sms',
          variants: { en: { text: 'x' } },
          defaultLanguage: 'en',
          businessId: theirs.businessId,
          templateId: theirs.templateId,
        }),
      ),
      status: 200,
    },
  ],
  'GET /api/templates': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/templates?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({
        templates: expect.arrayContaining([expect.objectContaining({ templateId: mine.templateId })]) as unknown,
      }),
    },
    {
      what: 'a cursor',
      ask: ask('GET', () => `/api/templates?cursor=${theirs.templateId}`),
      status: 200,
    },
  ],
  'GET /api/templates/:templateId': [{ what: 'an id', ask: ask('GET', theirTemplate()), ...NOT_FOUND }],
  'PATCH /api/templates/:templateId': [
    { what: 'an id', ask: ask('PATCH', theirTemplate(), () => ({ name: 'Mine now' })), ...NOT_FOUND },
  ],
  'DELETE /api/templates/:templateId': [{ what: 'an id', ask: ask('DELETE', theirTemplate()), ...NOT_FOUND }],
  'POST /api/templates/:templateId/preview': [
    { what: 'an id', ask: ask('POST', theirTemplate('/preview'), () => ({})), ...NOT_FOUND },
    {
      what: 'the id of a contact',
      ask: ask(
        'POST',
        () => `/api/templates/${mine.templateId}/preview`,
        () => ({ contactId: theirs.contactId }),
      ),
      ...NOT_FOUND,
    },
  ],
  'GET /api/messaging': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/messaging?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ messaging: { caps: [{ atMost: 1 }] } }),
    },
  ],
  'PUT /api/messaging': [
    {
      what: 'a businessId',
      ask: ask(
        'PUT',
        () => `/api/messaging?businessId=${theirs.businessId}`,
        () => ({ businessId: theirs.businessId, caps: [{ channel: 'sms', atMost: 1, days: 1 }] }),
      ),
      status: 200,
      data: () => ({ messaging: { caps: [{ atMost: 1 }] } }),
    },
  ],
  'GET /api/channels': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/channels?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({
        channels: expect.arrayContaining([
          expect.objectContaining({ url: `https://${mine.word}.example/` }),
        ]) as unknown,
      }),
    },
  ],
  'GET /api/channels/:channel': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/channels/webhook?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ channel: { url: `https://${mine.word}.example/` } }),
    },
  ],
  'PUT /api/channels/:channel': [
    {
      what: 'a businessId',
      ask: ask(
        'PUT',
        () => '/api/channels/push',
        () => ({ provider: 'log', businessId: theirs.businessId }),
      ),
      status: 200,
    },
  ],
  'DELETE /api/channels/:channel': [
    {
      what: 'a businessId',
      ask: ask('DELETE', () => `/api/channels/push?businessId=${theirs.businessId}`),
      status: 200,
    },
  ],
  'POST /api/channels/:channel/resume': [
    {
      what: 'a businessId',
      ask: ask('POST', () => `/api/channels/sms/resume?businessId=${theirs.businessId}`),
      status: 200,
    },
  ],
  'POST /api/channels/:channel/check': [
    {
      what: 'a businessId',
      ask: ask(
        'POST',
        () => '/api/channels/sms/check',
        () => ({ businessId: theirs.businessId }),
      ),
      status: 400,
      code: 'invalid_request',
    },
  ],
  'GET /api/hooks/:channel/:provider/:token': [
    {
      what: 'the token of their channel for another channel',
      ask: async () => speak('GET', await crossedCallback('whatsapp', 'meta')),
      status: 403,
      code: 'forged_callback',
    },
  ],
  'POST /api/hooks/:channel/:provider/:token': [
    {
      what: 'the token of their channel for another channel',
      ask: async () => speak('POST', await crossedCallback('sms', 'twilio')),
      status: 403,
      code: 'forged_callback',
    },
  ],
  'POST /api/channels/:channel/test': [
    {
      what: 'the id of a template',
      ask: ask(
        'POST',
        () => '/api/channels/sms/test',
        () => ({ to: '+972501234567', templateId: theirs.templateId }),
      ),
      ...NOT_FOUND,
    },
    {
      what: 'the id of a contact',
      ask: ask(
        'POST',
        () => '/api/channels/sms/test',
        () => ({ to: '+972501234567', contactId: theirs.contactId }),
      ),
      ...NOT_FOUND,
    },
  ],
  'GET /api/senders': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/senders?limit=500&businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({
        senders: expect.arrayContaining([
          expect.objectContaining({ channel: 'webhook', url: `https://${mine.word}.example/` }),
        ]) as unknown,
      }),
    },
  ],
  'POST /api/senders': [
    {
      what: 'a sender of theirs as the fallback',
      ask: ask(
        'POST',
        () => '/api/senders',
        () => ({ key: 'mine', channel: 'sms', provider: 'log', fallback: senderOf(theirs) }),
      ),
      status: 400,
      code: 'invalid_request',
    },
  ],
  'GET /api/senders/:sender': [theirSender('GET')],
  'GET /api/senders/:sender/report': [theirSender('GET', '/report')],
  'PATCH /api/senders/:sender': [theirSender('PATCH', '', { perSecond: 5 })],
  'DELETE /api/senders/:sender': [theirSender('DELETE')],
  'POST /api/senders/:sender/pause': [theirSender('POST', '/pause')],
  'POST /api/senders/:sender/resume': [theirSender('POST', '/resume')],
  'POST /api/senders/:sender/test': [theirSender('POST', '/test', { to: '+972501234567' })],
  'POST /api/senders/:sender/check': [theirSender('POST', '/check', {})],
  'GET /api/channels/:channel/log': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/channels/sms/log?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ messages: [{ message: { text: `of_${mine.word}` } }] }),
    },
  ],
  'GET /api/suppressions': [
    {
      what: 'an address of theirs',
      ask: ask('GET', () => '/api/suppressions?address=theirs@x.io'),
      status: 200,
      data: () => ({ suppressions: [], nextCursor: null }),
    },
    {
      what: 'a businessId and a cursor',
      ask: ask('GET', () => `/api/suppressions?businessId=${theirs.businessId}&cursor=${theirs.suppressionId}`),
      status: 200,
    },
  ],
  'POST /api/suppressions': [
    {
      what: 'a businessId and an address of theirs',
      ask: ask(
        'POST',
        () => '/api/suppressions',
        () => ({
          suppressions: [{ channel: 'email', address: 'theirs@x.io', businessId: theirs.businessId }],
          businessId: theirs.businessId,
        }),
      ),
      status: 200,
      data: () => ({ added: 1, known: 0 }),
    },
  ],
  'GET /api/subscriptions/settings': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/subscriptions/settings?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ confirmationTemplate: null, oneClick: 'topic' }),
    },
  ],
  'PUT /api/subscriptions/settings': [
    {
      what: 'the id of a template',
      ask: ask(
        'PUT',
        () => '/api/subscriptions/settings',
        () => ({ confirmationTemplate: theirs.templateId }),
      ),
      status: 400,
      code: 'invalid_request',
    },
  ],
  'POST /api/subscriptions/batch': [
    {
      what: 'a businessId, and an address of theirs',
      ask: ask(
        'POST',
        () => '/api/subscriptions/batch',
        () => ({
          subscriptions: [
            {
              identity: { email: 'theirs@x.io' },
              email: true,
              method: 'form',
              at: '2025-03-01',
              businessId: theirs.businessId,
            },
          ],
          businessId: theirs.businessId,
        }),
      ),
      status: 200,
      data: () => ({ recorded: 1, failed: 0 }),
    },
  ],
  'DELETE /api/suppressions': [
    {
      what: 'a businessId',
      ask: ask('DELETE', () => `/api/suppressions?reason=stop&businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ lifted: 1, hasMore: false }),
    },
  ],
  'DELETE /api/suppressions/:suppressionId': [
    { what: 'an id', ask: ask('DELETE', () => `/api/suppressions/${theirs.suppressionId}`), ...NOT_FOUND },
  ],
  'GET /api/analytics/attribution': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/attribution?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ rows: [{ channel: 'unknown', source: '', revenue: 1, orders: 1, contacts: 1 }] }),
    },
  ],
  'GET /api/analytics/spend': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/spend?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({
        spend: [{ ...SPENT, source: `of_${mine.word}`, currency: 'USD', amount: '1' }],
        nextCursor: null,
      }),
    },
  ],
  'POST /api/analytics/spend': [
    {
      what: 'a businessId and a row of theirs',
      ask: ask(
        'POST',
        () => '/api/analytics/spend',
        () => ({
          spend: [{ ...SPENT, source: `of_${theirs.word}`, businessId: theirs.businessId }],
          businessId: theirs.businessId,
        }),
      ),
      status: 200,
      data: () => ({ added: 1, changed: 0 }),
    },
  ],
  'DELETE /api/analytics/spend': [
    {
      what: 'a businessId',
      ask: ask('DELETE', () => `/api/analytics/spend?from=2024-02-28&to=2024-02-29&businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ deleted: 2, hasMore: false }),
    },
  ],
  'GET /api/analytics/series': [
    {
      what: 'the name of their event',
      ask: ask('GET', () => `/api/analytics/series?series=[{"measure":"count","events":["of_${theirs.word}"]}]`),
      status: 200,
      data: () => ({ series: [{ total: 0 }] }),
    },
  ],
  'GET /api/analytics/funnel': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/funnel?businessId=${theirs.businessId}&steps=${ownSteps()}`),
      status: 200,
      data: () => ({ steps: [{ contacts: 1 }, { contacts: 1 }] }),
    },
  ],
  'GET /api/analytics/funnel/contacts': [
    {
      what: 'a businessId',
      ask: ask(
        'GET',
        () => `/api/analytics/funnel/contacts?businessId=${theirs.businessId}&outcome=reached&steps=${ownSteps()}`,
      ),
      status: 200,
      data: () => ({ contacts: [{ contactId: mine.contactId }] }),
    },
  ],
  'GET /api/analytics/retention': [
    {
      what: 'the name of their event',
      ask: ask('GET', () => `/api/analytics/retention?periods=1&first={"event":"of_${theirs.word}"}`),
      status: 200,
      data: () => ({ curve: [{ contacts: 0 }, { contacts: 0 }] }),
    },
  ],
  'GET /api/analytics/lifecycle': [
    {
      what: 'the name of their event',
      ask: ask('GET', () => `/api/analytics/lifecycle?active={"event":"of_${theirs.word}"}`),
      status: 200,
      data: () => ({ buckets: expect.not.arrayContaining([expect.objectContaining({ new: 1 })]) as unknown }),
    },
  ],
  'GET /api/analytics/stages': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/stages?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ moves: [{ from: null, to: 'Awareness' }] }),
    },
  ],
  'GET /api/analytics/revenue': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/revenue?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ currencies: [{ gross: 1, orders: 1, customers: 1 }] }),
    },
  ],
  'GET /api/analytics/revenue/cohorts': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/revenue/cohorts?interval=week&businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({
        cohorts: expect.arrayContaining([expect.objectContaining({ customers: 1, revenue: [1] })]) as unknown,
      }),
    },
  ],
  'GET /api/analytics/web': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/web?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ pageViews: 1, sessions: 1, visitors: 1 }),
    },
  ],
  'GET /api/analytics/web/pages': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/web/pages?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ pages: [{ page: 'a.example/', views: 1 }] }),
    },
  ],
  'GET /api/analytics/web/sources': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/web/sources?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ sources: [{ sessions: 1, visitors: 1 }] }),
    },
  ],
  'GET /api/analytics/web/live': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/web/live?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({ live: 1 }),
    },
  ],
  'GET /api/analytics/engagement/movers': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/engagement/movers?businessId=${theirs.businessId}`),
      status: 200,
      data: () => ({
        risen: expect.arrayContaining([expect.objectContaining({ contactId: mine.contactId, before: 0 })]) as unknown,
        fallen: [],
      }),
    },
  ],
  'GET /api/analytics/engagement': [
    {
      what: 'a businessId',
      ask: ask('GET', () => `/api/analytics/engagement?businessId=${theirs.businessId}`),
      status: 200,
      // The contact made by `POST /api/subscriptions/batch`.
      data: () => ({ inactive: 1 }),
    },
  ],
  'GET /openapi.json': null,
  'GET /openapi': null,
  'GET /healthz': null,
  'OPTIONS /healthz': null,
  'GET /readyz': null,
  'OPTIONS /readyz': null,
  'GET /metrics': null,
  'GET /sluice.js': null,
  'GET /sluice-push.js': null,
  'GET /sluice-push-sw.js': null,
  'GET /u/:token': [
    {
      what: 'a token that names a contact of theirs for us',
      ask: async () => speak('GET', await crossedLink()),
      status: 200,
    },
  ],
  'POST /u/:token': [
    {
      what: 'a token that names a contact of theirs for us',
      ask: async () => speak('POST', await crossedLink()),
      status: 200,
    },
  ],
  'GET /c/:token': [
    {
      what: 'a token that names a message of theirs for us',
      ask: async () => {
        const key = await loadMessageKey(service.sql)
        const link = { businessId: mine.businessId, messageId: theirs.messageId, target: `${service.url}/u/preview` }
        return speak('GET', `/c/${writeLinkToken(key, link)}`, { headers: BROWSER })
      },
      status: 200,
    },
  ],
  'GET /o/:token': [
    {
      what: 'a token that names a message of theirs for us',
      ask: async () => {
        const key = await loadMessageKey(service.sql)
        const message = { businessId: mine.businessId, messageId: theirs.messageId }
        return speak('GET', `/o/${writeOpenToken(key, message)}`, { headers: BROWSER })
      },
      status: 200,
    },
  ],
  'GET /confirm/:token': [
    {
      what: 'a token that names a contact of theirs for us',
      ask: async () => speak('GET', await crossedConfirmation()),
      status: 200,
    },
  ],
  'POST /confirm/:token': [
    {
      what: 'a token that names a contact of theirs for us',
      ask: async () => speak('POST', await crossedConfirmation()),
      status: 200,
    },
  ],
  'GET /': null,
  ...Object.fromEntries(PAGE_PATHS.map((path) => [`GET ${path.replaceAll('$', ':')}`, null])),
  'GET /dashboard/assets/:file': null,
}

/**
 * The routes of the dashboard need a session cookie: test/dashboard/rights.test.ts tries every role on each of them.
 */
const KEYED = listRoutes().filter(({ path }) => !path.startsWith('/dashboard/api/'))
const names = KEYED.map(({ method, path }) => `${method} ${path}`)

describe('every route', () => {
  it('has its entry in this test', () => {
    expect(Object.keys(CROSSINGS).toSorted()).toEqual(names.toSorted())
  })

  it('that takes an id or a body is asked with another’s', () => {
    // The pages of the dashboard are the same for every caller: they request the data that they show.
    const own = KEYED.filter(({ path }) => !path.startsWith('/dashboard'))
    const takes = own.filter(({ path, operation }) => path.includes(':') || operation?.body !== undefined)
    for (const { method, path } of takes) expect(CROSSINGS[`${method} ${path}`] ?? []).not.toEqual([])
  })

  it('needs a key where it returns data of a business', async () => {
    for (const { method, path, operation } of listRoutes()) {
      if (operation === null || operation.key !== 'secret') continue
      const asked = path
        .replace(':contactId', theirs.contactId)
        .replace(':campaignId', theirs.campaignId)
        .replace(':messageId', theirs.messageId)
        .replace(':segmentId', theirs.segmentId)
        .replace(':templateId', theirs.templateId)
        .replace(':suppressionId', theirs.suppressionId)
      for (const key of [undefined, mine.publishableKey]) {
        const answer = await speak(method, asked, { key, ...(operation.body && { json: operation.body.example }) })
        expect([method, path, answer.status]).toEqual([method, path, key === undefined ? 401 : 403])
      }
    }
  })

  it('that serves no business returns no data of one', async () => {
    for (const name of names.filter((route) => CROSSINGS[route] === null)) {
      const [method = '', path = ''] = name.split(' ')
      const answer = await speak(method, `${path}?businessId=${theirs.businessId}`, { key: mine.secretKey })
      for (const word of wordsOf(theirs)) expect([name, answer.text.includes(word)]).toEqual([name, false])
    }
  })
})

describe('with what is another’s, it learns nothing and changes nothing:', () => {
  const cases = Object.entries(CROSSINGS).flatMap(([route, crossings]) =>
    (crossings ?? []).map((crossing) => ({ route, ...crossing })),
  )

  it.each(cases)(
    'is refused, or served from its own: $route with $what',
    async ({ ask: askWith, status, code, data }) => {
      const answer = await askWith()
      expect([answer.status, answer.body.error?.code]).toEqual([status, code])
      if (data) expect(answer.body.data).toMatchObject(data())
      for (const word of wordsOf(theirs)) expect([word, answer.text.includes(word)]).toEqual([word, false])
    },
  )

  it('in the end the other business has all that it had', async () => {
    // Calls are applied in the order of arrival: those that were not waited for are applied before this one.
    await ask('POST', () => '/api/sdk/track', ownEvent)()
    await service.shipped()
    expect(await allOf(theirs)).toBe(theirsBefore)
  })

  it('and the businesses are separate in every view of ClickHouse', async () => {
    for (const view of ['timeline', 'contacts', 'contact_event_statistics', 'attributed_purchases', 'touches']) {
      const rows = await service.clickhouse.query({
        query: `select distinct toString(contact_id) as id from ${view} where business_id = {b:UUID}`,
        query_params: { b: theirs.businessId },
        format: 'JSONEachRow',
      })
      expect([view, await rows.json()]).toEqual([view, [{ id: theirs.contactId }]])
    }
  })
})
