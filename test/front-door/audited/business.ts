/** A business with everybody who can change something of it, and with what they change. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Actor } from '../../../src/audit/audit.ts'
import { addUser, signIn } from '../../dashboard/session-client.ts'
import type { Service } from '../../support/service.ts'
import { type TestBusiness, createBusiness } from '../../support/stack.ts'
import { speakTo } from '../http-client.ts'

export interface Caller {
  /** As in the audit log. */
  actor: Actor
  /** `path` begins after `/api`, or in the dashboard after the business. Throws unless the answer is 200. */
  send(method: string, path: string, json?: object): Promise<Record<string, unknown>>
}

export interface ActingBusiness extends TestBusiness {
  service: Service
  /** The secret key. */
  key: Caller
  owner: Caller
  /** Not a member of the business: calls the routes of the installation. */
  operator: Caller
  /** Posts as the owner. Returns the text at `place` in the answer. */
  create(path: string, json: object, ...place: string[]): Promise<string>
}

export async function openActingBusiness(service: Service): Promise<ActingBusiness> {
  const { sql } = service
  const business = await createBusiness(sql)
  const { businessId, secretKey } = business
  const [{ id: keyId }] = await sql<[{ id: string }]>`
    select id from api_keys where business_id = ${businessId} and kind = 'secret'`
  const speak = speakTo(service.url)
  const key: Caller = {
    actor: { kind: 'key', id: keyId, name: `…${secretKey.slice(-4)}` },
    async send(method, path, json) {
      const { status, body } = await speak(method, `/api${path}`, { key: secretKey, json })
      expect([method, path, status, body.error]).toEqual([method, path, 200, undefined])
      return body.data
    },
  }
  const owner = await openUser(service, { businessId, role: 'owner' }, `/b/${businessId}`)
  const operator = await openUser(service, { isOperator: true }, '')
  return {
    ...business,
    service,
    key,
    owner,
    operator,
    async create(path, json, ...place) {
      const data: unknown = await owner.send('POST', path, json)
      return String(place.reduce((within, name) => (within as Record<string, unknown>)[name], data))
    },
  }
}

async function openUser(service: Service, rights: Parameters<typeof addUser>[2], root: string): Promise<Caller> {
  const email = `${randomUUID()}@x.io`
  const id = await addUser(service.sql, email, rights)
  const client = await signIn(service, email)
  return {
    actor: { kind: 'user', id, name: email },
    async send(method, path, json) {
      const { status, data, code, issues } = await client.send(method, root + path, json)
      expect([method, path, status, code, issues]).toEqual([method, path, 200, undefined, []])
      return data
    },
  }
}

/** A new word each time. */
export const word = (): string => `w${randomUUID().slice(0, 8)}`

export async function addContact({ key }: ActingBusiness, traits: object = {}): Promise<string> {
  const { contactId } = await key.send('POST', '/sdk/identify', { identity: { email: `${word()}@x.io` }, traits })
  return String(contactId)
}

export const templateOf = (channel: string, text: string) => ({
  name: 'Hello',
  channel,
  variants: { en: { text, ...(channel === 'email' && { subject: 'Hello' }) } },
  defaultLanguage: 'en',
})
export const addTemplate = (business: ActingBusiness, channel = 'sms', text = 'Hello'): Promise<string> =>
  business.create('/templates', templateOf(channel, text), 'template', 'templateId')

/** A draft that sends a text message. */
export async function addCampaign(business: ActingBusiness): Promise<string> {
  const steps = [{ type: 'send', channel: 'sms', template: await addTemplate(business) }]
  const campaign = { name: 'Welcome', trigger: { event: 'signup' }, steps }
  return business.create('/campaigns', campaign, 'campaign', 'campaignId')
}

export async function addPublished(business: ActingBusiness): Promise<string> {
  const campaignId = await addCampaign(business)
  await business.owner.send('POST', `/campaigns/${campaignId}/publish`)
  return campaignId
}

export async function addPaused(business: ActingBusiness): Promise<string> {
  const campaignId = await addPublished(business)
  await business.owner.send('POST', `/campaigns/${campaignId}/pause`)
  return campaignId
}

export const SEGMENT = { name: 'VIP', rule: { tag: 'vip', operator: 'has' } }
export const addSegment = (business: ActingBusiness): Promise<string> =>
  business.create('/segments', SEGMENT, 'segment', 'segmentId')

export const VIEW = { name: 'VIP', filters: { tag: 'vip' } }
export const addView = (business: ActingBusiness): Promise<string> =>
  business.create('/contact-views', VIEW, 'view', 'id')

export const QUERY = { name: 'One', statement: 'select 1' }
export const addQuery = (business: ActingBusiness): Promise<string> =>
  business.create('/sql/queries', QUERY, 'query', 'id')

export const addBoard = (business: ActingBusiness): Promise<string> =>
  business.create('/boards', { name: word() }, 'board', 'id')

/** Nobody listens there. */
export const DESTINATION = { kind: 'webhook', settings: { url: 'http://127.0.0.1:9/' } }
export const addDestination = (business: ActingBusiness): Promise<string> =>
  business.create('/destinations', DESTINATION, 'destinationId')

/** A conversion that was given up. */
export async function addDelivery(business: ActingBusiness): Promise<string> {
  const { service, businessId } = business
  const destinationId = await addDestination(business)
  const [row] = await service.sql<[{ id: string }]>`
    insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks, state,
      attempts, settled_at)
    values (${businessId}, gen_random_uuid(), ${destinationId}, gen_random_uuid(), gen_random_uuid(), 'lead', 'lead', 0,
      '{}', 'dead', 10, now())
    returning id`
  return row.id
}

export const addInvitation = (business: ActingBusiness): Promise<string> =>
  business.create('/invitations', { email: 'ann@x.io', role: 'analyst' }, 'invitationId')

export const addColleague = ({ service, businessId }: ActingBusiness): Promise<string> =>
  addUser(service.sql, `${word()}@x.io`, { businessId, role: 'marketer' })

/** Another owner, who has invited a person. */
export async function addInviter({ service, businessId }: ActingBusiness): Promise<Record<string, string>> {
  const { actor, send } = await openUser(service, { businessId, role: 'owner' }, `/b/${businessId}`)
  const { invitationId } = await send('POST', '/invitations', { email: 'ann@x.io', role: 'analyst' })
  return { userId: actor.id, invitationId: String(invitationId) }
}

export const newSuppression = () => ({
  suppressions: [{ channel: 'email', address: `${word()}@x.io`, reason: 'stop' }],
})
export async function addSuppression({ owner }: ActingBusiness): Promise<string> {
  await owner.send('POST', '/suppressions', newSuppression())
  const { suppressions } = await owner.send('GET', '/suppressions')
  return (suppressions as [{ suppressionId: string }])[0].suppressionId
}

/** A message whose outcome is unknown. */
export async function addMessage(business: ActingBusiness): Promise<string> {
  const { service, businessId } = business
  const contactId = await addContact(business)
  const [row] = await service.sql<[{ id: string }]>`
    insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, claimed_at, states,
      template_id)
    values (${businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ${contactId}, 'a', 'email', 'unknown', 1,
      '[]', gen_random_uuid())
    returning id`
  return row.id
}

export async function addDeadLetter({ service, businessId }: ActingBusiness, payload: object): Promise<string> {
  const [row] = await service.sql<[{ id: string }]>`
    insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
    values (gen_random_uuid(), ${businessId}, '0', '1-1', 'track', 'broken', ${JSON.stringify(payload)})
    returning id`
  return row.id
}
