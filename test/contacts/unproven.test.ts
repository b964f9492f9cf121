/**
 * How stores keep the identities and profiles that pages reported, and that servers later prove or take away
 * (decisions, "Identity").
 */
import { describe, expect, it } from 'vitest'
import { readContact } from '../../src/contacts/read/read-contact.ts'
import type { Identity, Profile, Subscriptions } from '../../src/rules/events/facts.ts'
import type { PageIdentify } from '../../src/rules/business-state.ts'
import type { ContactAnswer } from '../../src/stream/entry.ts'
import { type RequestContext, NOW, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { businessId, pipeline, stack, useFreshBusiness } from '../support/fresh-business.ts'

useFreshBusiness()

const ANN = { email: 'ann@x.io' }
const PHONE = { phone: '972500000001' }
const seen = (identity: Identity) => track(businessId, eventFact('e', identity))
const byServer = (identity: Identity, profile: Profile = {}) =>
  identify(businessId, identifyFact(identity, { profile }))
const byPage = (identity: Identity, profile: Profile = {}) =>
  identify(businessId, identifyFact(identity, { profile }), false)
const choose = (contactId: string, channels: Partial<Subscriptions>, method: string): RequestContext => ({
  kind: 'subscribe',
  businessId,
  receivedAt: NOW,
  contactId,
  channels,
  method,
})
const setting = (value: PageIdentify) =>
  stack.sql`update businesses set page_identify = ${value}, config_version = config_version + 1 where id = ${businessId}`
const contactOf = async (call: RequestContext) => {
  const [answer] = await pipeline.apply(call)
  return (answer as ContactAnswer).contactId!
}
const read = (contactId: string) => readContact(stack.sql, { businessId, contactId, currency: 'USD' })

describe('a proven value', () => {
  it('comes before unproven ones of its kind, whatever was sent first', async () => {
    const contactId = await contactOf(seen(ANN))
    await pipeline.apply(byPage({ ...ANN, phone: '972500000666' }))
    expect((await read(contactId))?.identities.phone).toEqual(['972500000666'])
    await pipeline.apply(seen({ ...ANN, ...PHONE }))
    expect((await read(contactId))?.identities.phone).toEqual([PHONE.phone, '972500000666'])
  })

  it('is in the order in which it was first sent, also after a merge', async () => {
    const older = await contactOf(seen(PHONE))
    await pipeline.apply(seen({ platformCustomerId: '1', email: 'b@x.io' }))
    await pipeline.apply(seen({ ...PHONE, email: 'a@x.io' }))
    await pipeline.apply(seen({ platformCustomerId: '1', email: 'c@x.io' }))
    await pipeline.apply(seen({ platformCustomerId: '1', ...PHONE }))
    expect((await read(older))?.identities.email).toEqual(['b@x.io', 'a@x.io', 'c@x.io'])
  })
})

describe('a field that leaves a contact takes along', () => {
  const victim = { email: 'victim@x.io' }
  const choices = async (contactId: string) =>
    await stack.sql<{ channel: string; subscribed: boolean; method: string }[]>`
      select channel, subscribed, method from subscriptions
      where business_id = ${businessId} and contact_id = ${contactId} order by channel`
  const rows = async (contactId: string) => (await choices(contactId)).map((row) => ({ ...row }))

  it('the opt-outs of its channel, as they were recorded, and no opt-in; the merge log says so', async () => {
    const first = await contactOf(seen({ platformCustomerId: '1' }))
    await pipeline.apply(byPage({ platformCustomerId: '1', ...victim, ...PHONE }))
    await pipeline.apply(choose(first, { email: false, sms: false, whatsapp: true, push: false }, 'STOP'))
    const second = await contactOf(seen(victim))
    expect(second).not.toBe(first)
    expect(await rows(second)).toEqual([{ channel: 'email', subscribed: false, method: 'STOP' }])
    const third = await contactOf(seen(PHONE))
    expect(await rows(third)).toEqual([{ channel: 'sms', subscribed: false, method: 'STOP' }])
    expect((await rows(first)).length).toBe(4)
    const log = await stack.sql`
      select action, contact_id, losing_id, evidence from merge_log where business_id = ${businessId} order by id`
    expect([...log]).toEqual([
      { action: 'moved', contact_id: second, losing_id: first, evidence: [{ kind: 'email', value: victim.email }] },
      { action: 'moved', contact_id: third, losing_id: first, evidence: [{ kind: 'phone', value: PHONE.phone }] },
    ])
  })

  it('the opt-outs of the same micro-batch too, and a later opt-in counts', async () => {
    const first = await contactOf(seen({ platformCustomerId: '1' }))
    await pipeline.apply(byPage({ platformCustomerId: '1', ...PHONE }))
    const [, answer] = await pipeline.apply(choose(first, { sms: false }, 'STOP'), seen(PHONE))
    const second = (answer as ContactAnswer).contactId!
    expect(await rows(second)).toEqual([{ channel: 'sms', subscribed: false, method: 'STOP' }])
    await pipeline.apply(choose(second, { sms: true }, 'form'))
    expect(await rows(second)).toEqual([{ channel: 'sms', subscribed: true, method: 'form' }])
  })

  it('an opt-out that another partition recorded meanwhile', async () => {
    const other = await openPipeline(stack.sql)
    const first = await contactOf(seen({ platformCustomerId: '1' }))
    await pipeline.apply(byPage({ platformCustomerId: '1', ...PHONE }))
    await other.apply(choose(first, { whatsapp: false }, 'STOP'))
    const second = await contactOf(seen(PHONE))
    expect(await rows(second)).toEqual([{ channel: 'whatsapp', subscribed: false, method: 'STOP' }])
  })

  it('an opt-out to a contact that had opted in: it beats an opt-in', async () => {
    const first = await contactOf(seen({ platformCustomerId: '1' }))
    const second = await contactOf(seen({ platformCustomerId: '2' }))
    await pipeline.apply(byPage({ platformCustomerId: '1', ...PHONE }), choose(first, { sms: false }, 'STOP'))
    await pipeline.apply(choose(second, { sms: true, whatsapp: true }, 'form'))
    await pipeline.apply(seen({ platformCustomerId: '2', ...PHONE }))
    expect(await rows(second)).toEqual([
      { channel: 'sms', subscribed: false, method: 'STOP' },
      { channel: 'whatsapp', subscribed: true, method: 'form' },
    ])
    expect(await pipeline.identify(byServer({ platformCustomerId: '2' }))).toMatchObject({
      subscriptions: { sms: false },
    })
  })
})

describe('a name that a page filled', () => {
  const PAGE = { firstName: 'Click', city: 'Nowhere' }
  const names = async (contactId: string) => {
    const contact = await read(contactId)
    return [contact?.firstName, contact?.city]
  }

  it('keeps its place where pages are trusted, like every other', async () => {
    const contactId = await contactOf(byPage(ANN, PAGE))
    await pipeline.apply(byServer(ANN, { firstName: 'Ann' }))
    expect(await names(contactId)).toEqual(['Click', 'Nowhere'])
  })

  it.each([
    ['before a keyed call used the contact', [byPage, byServer]],
    ['after it', [byServer, byPage]],
  ])('gives way to a keyed one where they are not, if it came %s', async (_, [first, second]) => {
    await setting('confirmed')
    const contactId = await contactOf(first!(ANN, first === byPage ? PAGE : {}))
    await pipeline.apply(second!(ANN, second === byPage ? PAGE : {}))
    await pipeline.apply(byServer(ANN, { firstName: 'Ann' }))
    expect(await names(contactId)).toEqual(['Ann', 'Nowhere'])
    await pipeline.apply(byServer(ANN, { firstName: 'Anna' }), byPage(ANN, { firstName: 'Click' }))
    expect(await names(contactId)).toEqual(['Ann', 'Nowhere'])
  })

  it('is known as such when the setting changes later, unless a keyed call said the same', async () => {
    const contactId = await contactOf(byPage(ANN, PAGE))
    await pipeline.apply(byServer(ANN, { firstName: 'Ann', city: 'Nowhere' }))
    await setting('confirmed')
    await pipeline.apply(byServer(ANN, { firstName: 'Ann', city: 'Rome' }))
    expect(await names(contactId)).toEqual(['Ann', 'Nowhere'])
  })

  it('gives way in a merge to a keyed one, where pages are not trusted', async () => {
    const merged = async (value: PageIdentify, ...before: RequestContext[]) => {
      await setting(value)
      await pipeline.apply(...before)
      return names(await contactOf(seen({ ...ANN, ...PHONE })))
    }
    const people = [byPage(ANN, PAGE), seen(ANN), byServer(PHONE, { firstName: 'Ann' })]
    expect(await merged('confirmed', ...people)).toEqual(['Ann', 'Nowhere'])
    await pipeline.apply(byServer(ANN, { firstName: 'Bob', city: 'Rome' }))
    expect(await names(await contactOf(seen(ANN)))).toEqual(['Ann', 'Rome'])
  })

  it('stays in a merge where they are, and of two of pages the survivor’s stays', async () => {
    await pipeline.apply(byPage(ANN, PAGE), seen(ANN), byServer(PHONE, { firstName: 'Ann' }))
    expect(await names(await contactOf(seen({ ...ANN, ...PHONE })))).toEqual(['Click', 'Nowhere'])
  })

  it('is decided again when another partition filled it meanwhile', async () => {
    const other = await openPipeline(stack.sql)
    // The first pipeline's cache has the contact without a name.
    const contactId = await contactOf(seen(ANN))
    await other.apply(byServer(ANN, { firstName: 'Ann' }))
    await pipeline.apply(byServer(ANN, { firstName: 'Bob', city: 'Rome' }))
    expect(await names(contactId)).toEqual(['Ann', 'Rome'])
  })
})

it('a page never makes the contact used, and no call by contactId does', async () => {
  const contactId = await contactOf(byPage(ANN))
  await pipeline.apply(byPage(ANN, { firstName: 'Ann' }), choose(contactId, { email: true }, 'form'))
  const keyed = async () =>
    (await stack.sql<{ keyed: boolean }[]>`select keyed from contacts where id = ${contactId}`)[0]?.keyed
  expect(await keyed()).toBe(false)
  await pipeline.apply(seen(ANN))
  expect(await keyed()).toBe(true)
})
