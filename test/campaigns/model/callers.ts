/** The actions of callers, operators and people. */
import { expect } from 'vitest'
import { changeStatus } from '../../../src/campaigns/change-status.ts'
import { endArchived } from '../../../src/campaigns/engine/end-archived.ts'
import { saveMessaging } from '../../../src/campaigns/messaging.ts'
import { updateCampaign } from '../../../src/campaigns/update-campaign.ts'
import { resumeSender } from '../../../src/messages/channels/pause-channel.ts'
import { loadMessageKey } from '../../../src/messages/message-key.ts'
import { liftSuppressions } from '../../../src/messages/suppressions/lift.ts'
import { suppress } from '../../../src/messages/suppressions/suppress.ts'
import type { Identity } from '../../../src/rules/events/facts.ts'
import { batch, eventFact } from '../../support/facts.ts'
import { ACTOR } from '../engine-lab.ts'
import type { Course } from './course.ts'
import type { Call } from './life.ts'
import { PHONE } from './reference.ts'
import { VIP, nameSteps, sentCaps, sentQuiet, sentSteps } from './plan.ts'

const addressOf = (who: number): string => `p${who}@x.io`
const identityOf = (who: number): Identity => (who === PHONE ? { phone: '972501234567' } : { email: addressOf(who) })

export async function call(course: Course, action: Call): Promise<void> {
  const { stack, shop, pipeline, model, contactIds, campaignIds } = course
  const { sql } = stack
  const { businessId } = shop
  switch (action.kind) {
    case 'event':
      return await record(course, action)
    case 'consent': {
      const contactId = contactIds.get(model.people[action.who]!)
      if (contactId === undefined) return
      await shop.optIn(contactId, 'email', action.isGiven)
      model.people[action.who]!.hasOptIn = action.isGiven
      return
    }
    case 'suppress': {
      const key = await loadMessageKey(sql)
      const items = [{ channel: 'email' as const, address: addressOf(action.who), reason: 'hard_bounce' as const }]
      await sql.begin((tx) => suppress(tx, key, { businessId, now: model.now }, items))
      model.suppressed.add(action.who)
      return
    }
    case 'lift':
      await liftSuppressions(
        sql,
        { businessId, actor: ACTOR },
        { reason: 'hard_bounce', channel: null, from: null, to: null },
      )
      model.suppressed.clear()
      return
    case 'erase': {
      const contactId = contactIds.get(model.people[action.who]!)
      if (contactId === undefined) return
      await pipeline.apply({ kind: 'erase', businessId, receivedAt: model.now, contactId })
      model.erase(action.who)
      return
    }
    case 'merge':
      return await merge(course, action.who)
    case 'tag': {
      const contactId = contactIds.get(model.people[action.who]!)
      if (contactId === undefined) return
      const tags = { addTags: action.has ? [VIP] : [], removeTags: action.has ? [] : [VIP] }
      const fact = { profile: {}, traits: {}, ...tags, warnings: [] }
      await pipeline.apply({ kind: 'edit', businessId, receivedAt: model.now, contactId, fact })
      model.people[action.who]!.isVip = action.has
      return
    }
    case 'status': {
      const which = action.which % campaignIds.length
      const change = ({ published: 'resume', paused: 'pause', archived: 'archive' } as const)[action.status]
      const { kind } = await changeStatus(sql, { businessId, actor: ACTOR }, campaignIds[which]!, change)
      expect(kind === 'changed').toBe(model.setStatus(which, action.status))
      while (await endArchived(course.engines[0].deps));
      return
    }
    case 'edit':
      return await edit(course, action)
    case 'zone': {
      const contactId = contactIds.get(model.people[action.who]!)
      if (contactId === undefined) return
      const fact = { profile: { timezone: action.zone }, traits: {}, addTags: [], removeTags: [], warnings: [] }
      await pipeline.apply({ kind: 'edit', businessId, receivedAt: model.now, contactId, fact })
      model.setZone(model.people[action.who]!, action.zone)
      return
    }
    case 'messaging': {
      const { quiet, caps } = action
      const next = { quietHours: sentQuiet(quiet), caps: sentCaps(caps), perAddressHour: null }
      await saveMessaging(sql, { businessId, actor: ACTOR }, next)
      model.messaging = { quiet, caps }
      return
    }
    case 'channel':
      return await pause(course, action.isPaused)
  }
}

/** Pauses or resumes the mail channel. */
async function pause({ stack: { sql }, shop: { businessId }, model }: Course, isPaused: boolean): Promise<void> {
  const { now } = model
  if (isPaused)
    await sql`
      insert into senders (business_id, channel, provider, settings, revision, paused_at)
      values (${businessId}, 'email', 'log', '{}', gen_random_uuid(), ${now})
      on conflict (business_id, channel, key) do update set paused_at = excluded.paused_at`
  else await resumeSender(sql, { businessId, channel: 'email', sender: 'default', actor: ACTOR }, now)
  model.setPause(isPaused)
}

async function record(
  { stack, shop, pipeline, model, contactIds, people }: Course,
  { who, event, back, isLive }: Extract<Call, { kind: 'event' }>,
): Promise<void> {
  const at = model.now - back
  const identity = identityOf(who)
  const sent = { ...batch(shop.businessId, [eventFact(event, identity, { occurredAt: at })]), receivedAt: model.now }
  await pipeline.apply(isLive ? shop.live(event, identity, at) : sent)
  model.record(who, event, at, isLive)
  const person = model.people[who]!
  if (contactIds.has(person)) return
  const [value] = Object.values(identity)
  const [row] = await stack.sql<[{ contact_id: string }]>`
    select contact_id from identities where business_id = ${shop.businessId} and value = ${value as string}`
  contactIds.set(person, row.contact_id)
  people.set(row.contact_id, person.no)
}

async function merge({ shop, pipeline, model, contactIds }: Course, who: number): Promise<void> {
  const [one, other] = [model.people[who]!, model.people[PHONE]!]
  const areKnown = contactIds.has(one) && contactIds.has(other)
  if (one === other || !areKnown || !model.canMerge(one, other)) return
  await pipeline.apply(shop.live('seen', { ...identityOf(who), ...identityOf(PHONE) }, model.now))
  model.merge(one, other)
}

async function edit(
  { stack, shop, templates, campaignIds, model }: Course,
  { which, sketch }: Extract<Call, { kind: 'edit' }>,
): Promise<void> {
  const campaign = model.campaigns[which % campaignIds.length]!
  const { versions, status, plan } = campaign
  const steps = nameSteps(sketch, versions.length + 1)
  const change = { definition: { steps: sentSteps(steps, templates) } }
  const id = campaignIds[which % campaignIds.length]!
  const deps = { sql: stack.sql, config: { secretsKey: undefined } }
  const { kind } = await updateCampaign(deps, { businessId: shop.businessId, actor: ACTOR }, id, change)
  expect(kind).toBe(status === 'archived' ? 'locked' : 'updated')
  if (status !== 'archived') versions.push({ ...plan, steps })
}
