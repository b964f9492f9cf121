/**
 * Edits on their way through the pipeline: changes that the front door cannot see, and edits that are sent again later.
 */
import { beforeAll, expect, it } from 'vitest'
import type { EditFact } from '../../src/rules/events/facts.ts'
import type { EditAnswer } from '../../src/stream/entry.ts'
import {
  type RequestContext,
  NOW,
  type Pipeline,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})

const ADA = { email: 'ada@example.com' }
const editOf = (businessId: string, contactId: string, fact: Partial<EditFact>, more = {}): RequestContext => ({
  kind: 'edit',
  businessId,
  receivedAt: NOW,
  contactId,
  fact: { profile: {}, traits: {}, addTags: [], removeTags: [], warnings: [], ...fact },
  ...more,
})
const edit = async (...call: Parameters<typeof editOf>) => (await pipeline.apply(editOf(...call)))[0] as EditAnswer

async function stored(contactId: string) {
  const [row] = await stack.sql<
    { tags: string[]; traits: Record<string, unknown>; city: string | null; country: string | null; version: number }[]
  >`
    select to_json(tags) as tags, traits, city, country, version from contacts where id = ${contactId}`
  return row
}

it('is refused by the worker where a field got its type meanwhile, and then changes nothing', async () => {
  const { businessId: business } = await createBusiness(stack.sql)
  const { contactId } = await pipeline.track(track(business, eventFact('e', ADA, { traits: { seats: 5 } })))
  const before = await stored(contactId)
  expect(await edit(business, contactId, { traits: { seats: 'five', plan: 'pro' }, addTags: ['x'] })).toMatchObject({
    contactId,
    issues: [
      {
        path: 'traits.seats',
        message: 'traits.seats must be of type Number',
        code: 'field_type',
        values: { type: 'Number' },
      },
    ],
  })
  expect(await stored(contactId)).toEqual(before)
  const fields = await stack.sql`select key from custom_fields where business_id = ${business}`
  expect(fields).toHaveLength(1)
})

it('takes the 500th field of a business, and not the 501st', async () => {
  const { businessId: business } = await createBusiness(stack.sql)
  const { contactId } = await pipeline.track(track(business, eventFact('e', ADA)))
  const traits = Object.fromEntries(Array.from({ length: 499 }, (_, i) => [`f${i}`, i]))
  await edit(business, contactId, { traits })
  expect(await edit(business, contactId, { traits: { a: 1, b: 2 } })).toMatchObject({ issues: [{ path: 'traits.b' }] })
  expect((await edit(business, contactId, { traits: { a: 1, never_there: null } })).issues).toBeUndefined()
  expect((await edit(business, contactId, { traits: { b: 2 } })).issues).toHaveLength(1)
})

it('counts as of its receipt when it is a dead letter that is sent again', async () => {
  const { businessId: business } = await createBusiness(stack.sql)
  const traits = { plan: 'newer' }
  const { contactId } = await pipeline.track(
    track(business, eventFact('e', ADA, { traits, occurredAt: NOW + 1000, tags: ['t'] })),
  )
  const id = crypto.randomUUID()
  await stack.sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
    values (${id}, ${business}, 'live-0', '1-0', 'edit', 'test', '{}')`
  const fact = { traits: { plan: 'older', seats: 5 }, profile: { city: 'Haifa' }, removeTags: ['t'] }
  expect(await edit(business, contactId, fact, { replayOf: id })).toMatchObject({ contactId, warnings: [] })
  expect(await stored(contactId)).toMatchObject({
    traits: { plan: [NOW + 1000, '"newer"'], seats: [NOW, '5'] },
    city: 'Haifa',
    tags: [],
  })
  expect(await stack.sql`select from dead_letters where id = ${id}`).toHaveLength(0)
})

it('makes another partition decide again that did not know of it', async () => {
  const { businessId: business } = await createBusiness(stack.sql)
  const other = await openPipeline(stack.sql)
  const call = track(business, eventFact('e', ADA, { tags: ['vip'], idempotencyKey: 'k' }))
  const { contactId } = await pipeline.track(call)
  // Both pipelines have the contact in their caches.
  for (const one of [pipeline, other, pipeline, other]) await one.track(track(business, eventFact('again', ADA)))
  await edit(business, contactId, { removeTags: ['vip'], profile: { city: 'Haifa' } })
  await other.track(call)
  await other.track(track(business, eventFact('again', ADA, { tags: ['new'] })))
  expect(await stored(contactId)).toMatchObject({ tags: ['new'], city: 'Haifa', version: 2 })
})

it('adds the 1,000th tag of a contact, one more only in the place of another', async () => {
  const { businessId: business } = await createBusiness(stack.sql)
  const { contactId } = await pipeline.track(track(business, eventFact('e', ADA)))
  const tags = Array.from({ length: 999 }, (_, i) => `t${i}`)
  await stack.sql`update contacts set tags = ${`{${tags.join(',')}}`}::text[], version = version + 1 where id = ${contactId}`
  expect((await edit(business, contactId, { addTags: ['last', 't1'] })).warnings).toEqual([])
  const { warnings } = await edit(business, contactId, { addTags: ['more', 'last', 'yet more'], removeTags: ['t0'] })
  expect(warnings).toEqual(['1 tag was skipped: a contact has at most 1,000'])
  expect((await stored(contactId))?.tags).toEqual([...tags.slice(1), 'last', 'more'])
})

it('drops no tag silently when another partition takes the last place meanwhile', async () => {
  const { businessId: business } = await createBusiness(stack.sql)
  const { contactId } = await pipeline.track(track(business, eventFact('e', ADA)))
  const tags = Array.from({ length: 999 }, (_, i) => `t${i}`)
  await stack.sql`update contacts set tags = ${`{${tags.join(',')}}`}::text[], version = version + 1 where id = ${contactId}`
  const rival = await openPipeline(stack.sql)
  let isFirst = true
  rival.deps.sql = (async (strings: TemplateStringsArray, ...values: never[]) => {
    if (isFirst && strings.join('').includes('save_changes(')) {
      isFirst = false
      await pipeline.track(track(business, eventFact('e', ADA, { tags: ['theirs'] })))
    }
    return await stack.sql(strings, ...values)
  }) as unknown as Stack['sql']
  const [answer] = (await rival.apply(editOf(business, contactId, { addTags: ['mine'] }))) as [EditAnswer]
  expect(answer.warnings).toEqual(['1 tag was skipped: a contact has at most 1,000'])
  expect((await stored(contactId))?.tags).toEqual([...tags, 'theirs'])
})

it('sets or clears a profile field for good: what a page had filled there counts as a server’s word', async () => {
  const { businessId: business } = await createBusiness(stack.sql)
  await stack.sql`update businesses set page_identify = 'confirmed' where id = ${business}`
  const { contactId } = await pipeline.identify(
    identify(business, identifyFact(ADA, { profile: { city: 'Paris', country: 'France' } }), false),
  )
  const other = await openPipeline(stack.sql)
  for (const one of [pipeline, other]) await one.track(track(business, eventFact('e', ADA)))
  await edit(business, contactId, { profile: { city: 'Haifa', country: null } })
  const profile = { city: 'Rome', country: 'Italy' }
  // A value that a page reports in between fills the gap, and yields to a server's value.
  await other.identify(identify(business, identifyFact(ADA, { profile: { country: 'Spain' } }), false))
  await other.identify(identify(business, identifyFact(ADA, { profile })))
  expect(await stored(contactId)).toMatchObject({ city: 'Haifa', country: 'Italy' })
})
