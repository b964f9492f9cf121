/** Choices that depend on the choice in force when they are applied: those made on the page that messages link to. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Subscriptions } from '../../src/rules/events/facts.ts'
import { businessId, pipeline, stack, useFreshBusiness } from '../support/fresh-business.ts'
import { NOW, type RequestContext, eventFact, track } from '../support/facts.ts'

useFreshBusiness()

let contactId: string
beforeEach(async () => {
  ;({ contactId } = await pipeline.track(track(businessId, eventFact('e', { email: 'ann@x.io' }))))
})

interface Conditions {
  changesOnly?: boolean
  replaces?: Partial<Record<keyof Subscriptions, number>>
}
const choose = (sms: boolean, method: string, at: number, conditions: Conditions = {}): RequestContext => ({
  kind: 'subscribe',
  businessId,
  receivedAt: NOW + at,
  contactId,
  channels: { sms },
  method,
  ...conditions,
})
const history = async () =>
  (
    await stack.sql<{ method: string }[]>`
      select method from consent_history where business_id = ${businessId} order by id`
  ).map(({ method }) => method)

describe('a choice', () => {
  it('that is the same already is left as it is, where only changes count', async () => {
    await pipeline.apply(
      choose(false, 'first', 0, { changesOnly: true }),
      choose(false, 'second', 1, { changesOnly: true }),
    )
    await pipeline.apply(choose(false, 'third', 2, { changesOnly: true }))
    expect(await history()).toEqual(['first'])
    await pipeline.apply(choose(true, 'in', 3))
    const answers = await pipeline.apply(choose(false, 'fourth', 4, { changesOnly: true }))
    expect(answers).toMatchObject([{ subscriptions: { sms: false } }])
    expect(await history()).toEqual(['first', 'in', 'fourth'])
  })

  it('that replaces one is left out when that one is no longer the latest', async () => {
    await pipeline.apply(choose(false, 'page', 10))
    const answers = await pipeline.apply(
      choose(false, 'support', 20),
      choose(true, 'page again', 30, { replaces: { sms: NOW + 10 } }),
    )
    expect(answers).toMatchObject([{}, { contactId, subscriptions: { sms: false } }])
    expect(await pipeline.apply(choose(true, 'page again', 40, { replaces: { sms: NOW + 20 } }))).toMatchObject([
      { subscriptions: { sms: true } },
    ])
    expect(await history()).toEqual(['page', 'support', 'page again'])
  })

  it('that replaces one is left out where there is none', async () => {
    await pipeline.apply(choose(true, 'page again', 0, { replaces: { sms: NOW } }))
    expect(await history()).toEqual([])
  })
})
