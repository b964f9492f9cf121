/** The data that segments read from a contact is shipped with its snapshot. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Channel } from '../../src/rules/events/facts.ts'
import { NOW, eventFact, identify, identifyFact, openPipeline, type Pipeline, track } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { type Lab, openLab, query, shipAll } from './lab.ts'

let lab: Lab
let pipeline: Pipeline
let business: string
beforeAll(async () => {
  lab = await openLab()
  pipeline = await openPipeline(lab.sql)
  business = (await createBusiness(lab.sql)).businessId
})
afterAll(async () => {
  await lab?.close()
})

async function snapshotOf<Row>(contactId: string, columns: string): Promise<Row | undefined> {
  await shipAll(lab)
  const [row] = await query<Row>(
    lab,
    `select ${columns} from contact_snapshots final
      where business_id = {business: UUID} and contact_id = {contactId: UUID}`,
    { business, contactId },
  )
  return row
}

const subscribe = async (contactId: string, channels: Partial<Record<Channel, boolean>>): Promise<void> => {
  await pipeline.apply({
    kind: 'subscribe',
    businessId: business,
    receivedAt: NOW,
    contactId,
    channels,
    method: 'test',
  })
}
const revisionOf = async (contactId: string): Promise<number> => {
  const [row] = await lab.sql<{ revision: number }[]>`select revision from contacts where id = ${contactId}`
  return row?.revision ?? -1
}

test('an opt-in and an opt-out alone send the contact again, and a repeat of them does not', async () => {
  const { contactId } = await pipeline.track(track(business, eventFact('lesson', { email: 'ann@x.io' })))
  expect(await snapshotOf(contactId, 'subscribed')).toEqual({ subscribed: [] })
  await subscribe(contactId, { sms: true, email: true })
  expect(await snapshotOf(contactId, 'subscribed')).toEqual({ subscribed: ['email', 'sms'] })
  const revision = await revisionOf(contactId)
  await subscribe(contactId, { email: true, sms: true })
  expect(await revisionOf(contactId)).toBe(revision)
  await subscribe(contactId, { email: false })
  expect(await snapshotOf(contactId, 'subscribed')).toEqual({ subscribed: ['sms'] })
})

test('an opt-out follows its address to another contact', async () => {
  const first = await pipeline.track(track(business, eventFact('lesson', { platformCustomerId: '1' })))
  const fromPage = identifyFact({ platformCustomerId: '1', email: 'bob@x.io' })
  await pipeline.apply(identify(business, fromPage, false))
  await subscribe(first.contactId, { email: false })
  const second = await pipeline.track(track(business, eventFact('lesson', { platformCustomerId: '2' })))
  await subscribe(second.contactId, { email: true, sms: true })
  expect(await snapshotOf(second.contactId, 'subscribed')).toEqual({ subscribed: ['email', 'sms'] })
  await pipeline.track(track(business, eventFact('lesson', { email: 'bob@x.io', platformCustomerId: '2' })))
  const moved = await snapshotOf(second.contactId, 'emails, subscribed')
  expect(moved).toEqual({ emails: ['bob@x.io'], subscribed: ['sms'] })
})

test('a date arrives as its instant too, and a great number does not make the other fields unreadable', async () => {
  const traits = {
    birthday: '1990-02-28',
    renewal: '2026-11-20T12:00:00.5+02:00',
    plan: 'pro',
    serial: 1e20,
    other: -2e19,
  }
  const { contactId } = await pipeline.identify(identify(business, identifyFact({ email: 'cyd@x.io' }, { traits })))
  const columns = `date_fields, JSONExtractString(custom_fields, 'plan') as plan, JSONExtractFloat(custom_fields, 'serial') as serial,
    JSONExtractFloat(custom_fields, 'other') as other`
  expect(await snapshotOf(contactId, columns)).toEqual({
    date_fields: { birthday: Date.parse('1990-02-28'), renewal: Date.parse('2026-11-20T10:00:00.500Z') },
    plan: 'pro',
    serial: 1e20,
    other: -2e19,
  })
})
