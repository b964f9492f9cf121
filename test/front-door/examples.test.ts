/** A caller that sends an example of the OpenAPI description gets the answer that the description gives for it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEMPLATE_EXAMPLE } from '../../src/front-door/openapi/examples.ts'
import { commandActor } from '../../src/audit/command-actor.ts'
import { API_ROUTES } from '../../src/front-door/app.ts'
import type { Operation } from '../../src/front-door/openapi/operation.ts'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { listSuppressions } from '../../src/messages/suppressions/list-suppressions.ts'
import { addSuppressions } from '../../src/messages/suppressions/suppress.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { openService, type Service } from '../support/service.ts'
import { createBusiness, openStack, type Stack, type TestBusiness } from '../support/stack.ts'
import { BROWSER, speakTo } from './http-client.ts'
import { addTopics } from '../support/topics.ts'
import { dataOf } from './reply-shape.ts'

interface Described {
  method: string
  path: string
  operation: Operation
}
const described: Described[] = API_ROUTES.flatMap(({ method, path, operation }) =>
  operation === null ? [] : [{ method, path, operation }],
)
const answering = (status: number) => described.filter(({ operation }) => status in operation.replies)
const [identify] = described.filter(({ path }) => path === '/api/sdk/identify')

/** Sends the example for this business with these ids, and checks the answer against its description. */
async function send(url: string, business: TestBusiness, ids: Record<string, string>, one: Described, status: number) {
  const { method, path, operation } = one
  const { businessId, secretKey } = business
  const example = operation.body?.example
  const required = Object.entries(operation.query ?? {}).filter(([, details]) => details.required)
  const query = new URLSearchParams(
    Object.fromEntries(required.map(([name, details]) => [name, ids[name] ?? details.example ?? ''])),
  )
  const answer = await speakTo(url)(
    method,
    `${path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? '')}?${query.toString()}`,
    {
      ...(operation.key !== 'publishable' && { key: secretKey }),
      ...(example && { json: 'businessId' in example ? { ...example, businessId } : withIds(example, ids) }),
      headers: { ...BROWSER, ...(status === 200 && { prefer: 'wait=10' }) },
    },
  )
  const { data, message } = operation.replies[status]!
  expect([answer.status, answer.body.message]).toEqual([status, message])
  return dataOf(data, answer, status)
}

/**
 * Puts real ids into an example: steps name the created template, and the setting for confirmations names a template
 * for confirmations.
 */
const withIds = (
  example: object,
  { templateId = TEMPLATE_EXAMPLE.templateId, confirmationTemplate }: Record<string, string>,
): object =>
  'confirmationTemplate' in example
    ? { confirmationTemplate }
    : (JSON.parse(JSON.stringify(example).replaceAll(TEMPLATE_EXAMPLE.templateId, templateId)) as object)

async function createConfirmationTemplate({ url }: Service, { secretKey }: TestBusiness): Promise<string> {
  const variants = { en: { subject: 'Confirm', text: '{{confirmUrl}}' } }
  const json = { name: 'Confirm', channel: 'email', defaultLanguage: 'en', variants }
  const { body } = await speakTo(url)('POST', '/api/templates', { key: secretKey, json })
  return (body.data as { template: { templateId: string } }).template.templateId
}

/** Inserts a message whose outcome is unknown. */
async function insertMessage({ sql }: Service, { businessId }: TestBusiness, contactId: string): Promise<string> {
  const [row] = await sql<[{ id: string }]>`
    insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, claimed_at, states, template_id)
    values (${businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ${contactId}, 'a', 'email', 'unknown', 1, '[]',
      gen_random_uuid())
    returning id`
  return row.id
}

async function addSuppression({ sql }: Service, { businessId }: TestBusiness): Promise<string> {
  const actor = commandActor('test')
  const item = { channel: 'sms', address: '+972541234567', reason: 'stop' } as const
  await addSuppressions(sql, { businessId, actor, now: Date.now() }, [item])
  const wanted = { channel: 'sms', reason: 'stop', addresses: null } as const
  const [added] = await listSuppressions(sql, { businessId, before: null, limit: 1 }, wanted)
  return added?.suppressionId ?? ''
}

/**
 * Templates come before campaigns, which name them. Topics come after: a campaign that is published has to name one then.
 * The delete example deletes the copy of the archived campaign.
 */
function rankOf({ method, path }: Described): number {
  if (method === 'DELETE') return 4
  if (path === '/api/topics') return method === 'POST' ? 2 : 3
  if (path.includes('/topics')) return 3
  return method === 'POST' && ['/api/templates', '/api/senders'].includes(path) ? 0 : 1
}

describe('with workers', () => {
  let service: Service
  let business: TestBusiness
  const ids: Record<string, string> = { channel: 'email', sender: 'receipts', topicKey: 'newsletter' }
  beforeAll(async () => {
    service = await openService({ SECRETS_KEY })
    business = await createBusiness(service.sql)
    // Before any other call about the person: the example is about a new person.
    const { contactId } = await send(service.url, business, ids, identify!, 200)
    ids['contactId'] = String(contactId)
    ids['messageId'] = await insertMessage(service, business, String(contactId))
    ids['suppressionId'] = await addSuppression(service, business)
    await addTopics(service.sql, business.businessId, { spare: { channels: ['push'] } })
    ids['reason'] = 'manual'
    ids['confirmationTemplate'] = await createConfirmationTemplate(service, business)
  })
  afterAll(() => service?.close())

  const others = answering(200).filter((one) => one !== identify)
  const inOrder = others.toSorted((a, b) => rankOf(a) - rankOf(b))
  it.each(inOrder)('$method $path', async (one) => {
    const { campaign, segment, template, backtestId } = await send(
      service.url,
      business,
      // A topic with choices cannot be deleted.
      one.method === 'DELETE' ? { ...ids, topicKey: 'spare' } : ids,
      one,
      200,
    )
    if (campaign) ids['campaignId'] = (campaign as { campaignId: string }).campaignId
    if (backtestId) ids['backtestId'] = backtestId as string
    if (template) ids['templateId'] = (template as { templateId: string }).templateId
    if (segment) ids['segmentId'] = (segment as { segmentId: string }).segmentId
  })
})

describe('without workers', () => {
  let stack: Stack
  let frontDoor: FrontDoor
  let business: TestBusiness
  beforeAll(async () => {
    stack = await openStack({ ANSWER_TIMEOUT_MS: '50' })
    frontDoor = await runFrontDoor(stack.config)
    business = await createBusiness(stack.sql)
    await addTopics(stack.sql, business.businessId, { newsletter: {} })
  })
  afterAll(async () => {
    await frontDoor?.close()
    await stack?.close()
  })

  it.each(answering(202))('$method $path', async (one) => {
    const { secretKey: key } = business
    const sent = { ...TEMPLATE_EXAMPLE, name: 'Code' }
    const { body } = await speakTo(frontDoor.url)('POST', '/api/templates', { key, json: sent })
    const { templateId } = body.data['template'] as { templateId: string }
    await send(frontDoor.url, business, { contactId: crypto.randomUUID(), templateId }, one, 202)
  })
})
