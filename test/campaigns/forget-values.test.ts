/** The values that messages were rendered from are deleted after MESSAGE_KEEP. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ClaimedSend } from '../../src/campaigns/engine/claim/claim-due.ts'
import { MAX_CHUNKS, forgetValues } from '../../src/campaigns/engine/send/forget-values.ts'
import { renderAgain } from '../../src/campaigns/read-messages.ts'
import { updateTemplate } from '../../src/messages/templates/save-template.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { ACTOR, type Engine, type Shop, openEngine, openShop } from './engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
  const { businessId } = await createBusiness(stack.sql)
  shop = openShop(stack, engine, pipeline, businessId)
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})

const config = { messageKeepMs: 1000 }
const forgetAt = (now: number) => forgetValues({ sql: stack.sql, now: () => now, config })

it('after that time and no sooner; the message stays', async () => {
  const template = await shop.template()
  await shop.publish([{ id: 'a', type: 'send', channel: 'email', template }])
  const [seen] = await pipeline.apply(shop.live('seen'))
  await shop.optIn((seen as TrackAnswer).contactId)
  await pipeline.apply(shop.live('signup'))
  await engine.drain()
  const [message] = (await shop.messages()) as [{ id: string }]
  const rendered = () => renderAgain(stack.sql, engine.deps.renderer, shop.businessId, message.id)
  const shown = await rendered()
  expect(shown?.text).toContain('Hello')
  // The template version that the message was made from is kept as long.
  const change = { businessId: shop.businessId, actor: ACTOR }
  const variants = { en: { subject: 'Other', text: 'Other' } }
  const deps = { ...engine.deps, config: { messageKeepMs: 100_000_000 } }
  await updateTemplate(deps, change, template, { variants })
  await stack.sql`update template_versions set replaced_at = now() - interval '1 day' where replaced_at is not null`
  await updateTemplate(deps, change, template, { variants: { en: { subject: 'Third', text: 'Third' } } })
  await forgetAt(NOW + 1000)
  expect(await rendered()).toEqual(shown)
  await forgetAt(NOW + 1001)
  expect(await rendered()).toBeNull()
  expect(await shop.states()).toEqual(['a sent'])
})

it.each([
  ['recorded', ''],
  ['recorded after a report of it', `update messages set state = 'delivered', reports = '["delivered"]'`],
])('also when it was older than that before its outcome was %s', async (_, report) => {
  const { businessId } = await createBusiness(stack.sql)
  const late = openShop(stack, engine, pipeline, businessId)
  await late.publish([{ id: 'a', type: 'send', channel: 'email', template: await late.template() }])
  const [seen] = await pipeline.apply(late.live('seen'))
  await late.optIn((seen as TrackAnswer).contactId)
  await pipeline.apply(late.live('signup'))
  const [claimed] = (await engine.claim()) as [ClaimedSend]
  await forgetAt(NOW + 1001)
  if (report !== '') await stack.sql.unsafe(`${report} where business_id = '${businessId}'`)
  await engine.send(claimed)
  expect((await late.messages()).map(({ values }) => values === null)).toEqual([false])
  await forgetAt(NOW + 1001)
  expect((await late.messages()).map(({ values }) => values === null)).toEqual([true])
})

it('many at once, and the others with the next call', async () => {
  const many = MAX_CHUNKS * 1000 + 1
  await stack.sql`
    insert into messages (business_id, id, campaign_id, enrolment_id, step, channel, state, claimed_at, states, template_id, "values")
    select ${shop.businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'a', 'email', 'sent', n, '[]', gen_random_uuid(), '{}'
    from generate_series(1, ${many}::integer) n`
  const left = async () => {
    const [{ count }] = await stack.sql<[{ count: number }]>`
      select count(*)::int as count from messages where business_id = ${shop.businessId} and "values" is not null`
    return count
  }
  expect(await left()).toBe(many)
  await forgetAt(NOW)
  expect(await left()).toBe(1)
  await forgetAt(NOW)
  expect(await left()).toBe(0)
})
