/**
 * The contacts that the segment worker loads: with the data that their segments read, and with more only where it is
 * needed.
 */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { CampaignTrigger } from '../../src/campaigns/campaign.ts'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import { loadContacts } from '../../src/contacts/load/load-state.ts'
import type { Rule } from '../../src/rules/segments/rule.ts'
import { insertSegment } from '../segments/segments-support.ts'
import { NOW, type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const ANN = { email: 'ann@x.io' }
const RECENT: Rule = { event: 'visit', metric: 'last', operator: 'within_days', value: 1 }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
let contactId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
  await publish({ event: 'visit' }, 'purchase')
  const [answer] = await pipeline.apply(
    track(businessId, eventFact('visit', ANN)),
    track(businessId, eventFact('purchase', ANN)),
  )
  contactId = (answer && 'contactId' in answer && answer.contactId) || ''
  const receivedAt = NOW
  await pipeline.apply({
    kind: 'subscribe',
    businessId,
    receivedAt,
    contactId,
    channels: { email: true },
    method: 'form',
  })
})

async function publish(trigger: CampaignTrigger, goalEvent: string | null = null) {
  const drafted = { name: 'Welcome', trigger, canEnterAgain: true, goalEvent }
  const campaignId = await draftCampaign(stack.sql, businessId, drafted)
  const published = await publishDraft(stack.sql, businessId, campaignId)
  expect(published.kind).toBe('published')
}

async function load() {
  const state = await loadContacts(stack.sql, new Map(), [{ business_id: businessId, id: contactId }])
  const contact = state.contacts.get(contactId)!
  const { identities, enrolments, goalLastAt, subscriptions, facts, version } = contact
  return {
    identities: identities.length,
    enrolments: enrolments.length,
    goals: goalLastAt.size,
    subscriptions: Object.keys(subscriptions),
    visits: facts?.statistics.get('visit')?.count,
    isVersioned: version !== null,
  }
}

const ALONE = { identities: 0, enrolments: 0, goals: 0, subscriptions: [], visits: 1, isVersioned: true }
const IN_FULL = { identities: 1, enrolments: 1, goals: 1, subscriptions: ['email'], visits: 1, isVersioned: true }

it('comes with nothing else where segments read events alone and start no campaign', async () => {
  await insertSegment(stack.sql, businessId, RECENT)
  expect(await load()).toEqual(ALONE)
})

it.each<Rule>([
  { attribute: 'email', operator: 'exists' },
  { not: { attribute: 'subscribed', channel: 'sms', operator: 'is_true' } },
])('comes in full where a rule reads %j', async (rule) => {
  await insertSegment(stack.sql, businessId, { all: [RECENT, rule] })
  expect(await load()).toEqual(IN_FULL)
})

it('comes in full where a segment starts a campaign', async () => {
  const { segmentId } = await insertSegment(stack.sql, businessId, RECENT)
  await publish({ segment: segmentId, on: 'leave' })
  expect(await load()).toEqual(IN_FULL)
})

it('comes with each business as that one needs it', async () => {
  await insertSegment(stack.sql, businessId, { all: [RECENT, { attribute: 'email', operator: 'exists' }] })
  const other = await createBusiness(stack.sql)
  await insertSegment(stack.sql, other.businessId, RECENT)
  const [answer] = await pipeline.apply(track(other.businessId, eventFact('visit', ANN)))
  const id = (answer && 'contactId' in answer && answer.contactId) || ''
  const named = [
    { business_id: businessId, id: contactId },
    { business_id: other.businessId, id },
  ]
  const { contacts } = await loadContacts(stack.sql, new Map(), named)
  expect([contactId, id].map((one) => contacts.get(one)?.identities.length)).toEqual([1, 0])
})
