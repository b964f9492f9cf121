// @long
/**
 * How names, primary identities, customer ids and consent are combined when people turn out to be one (decisions,
 * "Identity").
 */
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readContact } from '../../src/contacts/read/read-contact.ts'
import type { Identity, Subscriptions } from '../../src/rules/events/facts.ts'
import type { ContactAnswer } from '../../src/stream/entry.ts'
import {
  type RequestContext,
  NOW,
  type Pipeline,
  batch,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const PHONE = { phone: '972500000001' }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
})
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

const seen = (identity: Identity) => track(businessId, eventFact('e', identity))
const named = (identity: Identity, firstName: string) =>
  identify(businessId, identifyFact(identity, { profile: { firstName } }))
const unkeyed = (identity: Identity) => identify(businessId, identifyFact(identity), false)
const choose = (
  contactId: string,
  channels: Partial<Subscriptions>,
  method: string,
  business = businessId,
): RequestContext => ({
  kind: 'subscribe',
  businessId: business,
  receivedAt: NOW,
  contactId,
  channels,
  method,
})
const read = (contactId: string) => readContact(stack.sql, { businessId, contactId, currency: 'USD' })

describe('a name', () => {
  it('that the losing contact brings is not overwritten by the call that merges', async () => {
    const { contactId } = await pipeline.track(seen({ email: 'ann@x.io' }))
    await pipeline.apply(named(PHONE, 'Ann'))
    await pipeline.apply(named({ email: 'ann@x.io', ...PHONE }, 'Bob'))
    expect(await read(contactId)).toMatchObject({ firstName: 'Ann' })
  })

  it('that the losing contact had is not overwritten by what the same batch sent for it', async () => {
    const { contactId } = await pipeline.track(seen({ email: 'ann@x.io' }))
    await pipeline.apply(named(PHONE, 'Ann'))
    await pipeline.apply(named(PHONE, 'Bob'), seen({ email: 'ann@x.io', ...PHONE }))
    expect(await read(contactId)).toMatchObject({ firstName: 'Ann' })
  })

  it('is the first one sent when the contacts are made in one batch', async () => {
    const [first] = await pipeline.apply(
      seen({ email: 'ann@x.io' }),
      named(PHONE, 'Ann'),
      seen({ email: 'ann@x.io', ...PHONE }),
      named(PHONE, 'Bob'),
    )
    expect(await read((first as ContactAnswer).contactId!)).toMatchObject({ firstName: 'Ann' })
  })
})

describe('a profile', () => {
  it('is made up of both when both were filled in the batch that merges', async () => {
    const [first] = await pipeline.apply(
      identify(businessId, identifyFact({ email: 'ann@x.io' }, { profile: { lastName: 'Lee' } })),
      named(PHONE, 'Ann'),
      seen({ email: 'ann@x.io', ...PHONE }),
    )
    expect(await read((first as ContactAnswer).contactId!)).toMatchObject({ firstName: 'Ann', lastName: 'Lee' })
  })
})

describe('the primary identity', () => {
  it('is the first in the order of a batch', async () => {
    const emails = ['m', 'z', 'a'].map((name) => `${name}@x.io`)
    await pipeline.batch(
      batch(
        businessId,
        emails.map((email) => eventFact('e', { platformCustomerId: '1', email })),
      ),
    )
    const { contactId } = await pipeline.track(seen({ platformCustomerId: '1' }))
    expect((await read(contactId))?.identities.email).toEqual(emails)
  })

  it('is not one that came over from another contact', async () => {
    await pipeline.apply(unkeyed({ email: 'moved@x.io' }))
    const { contactId } = await pipeline.track(seen({ platformCustomerId: '1', email: 'own@x.io' }))
    await pipeline.apply(seen({ platformCustomerId: '1', email: 'moved@x.io' }))
    expect((await read(contactId))?.identities.email).toEqual(['own@x.io', 'moved@x.io'])
  })

  it('stays before the others of a contact that is merged away', async () => {
    const { contactId } = await pipeline.track(seen(PHONE))
    const emails = ['z', 'a', 'm'].map((name) => `${name}@x.io`)
    for (const email of emails) await pipeline.apply(seen({ platformCustomerId: '1', email }))
    // Rewrites a row, as every later update does: rows have no order of their own.
    await stack.sql`update identities set proven = true where business_id = ${businessId} and value = 'z@x.io'`
    await pipeline.apply(seen({ platformCustomerId: '1', ...PHONE }))
    expect((await read(contactId))?.identities.email).toEqual(emails)
  })
})

describe('a customer id that is not proven', () => {
  it('may be released and taken by another within one batch, and the other way round', async () => {
    const people = [
      { platformCustomerId: 'f', email: 'a@x.io' },
      { platformCustomerId: 'g', email: 'b@x.io' },
    ]
    for (const { platformCustomerId, email } of people)
      await pipeline.apply(unkeyed({ platformCustomerId, email }), seen({ email }))
    const answers = await pipeline.apply(
      seen({ platformCustomerId: 'g', email: 'a@x.io' }),
      seen({ platformCustomerId: 'f', email: 'b@x.io' }),
    )
    expect(answers).toMatchObject([{ isNew: false }, { isNew: false }])
    const held = await Promise.all(answers.map((answer) => read((answer as ContactAnswer).contactId!)))
    expect(held.map((contact) => contact?.identities)).toEqual([
      { platformCustomerId: ['g'], email: ['a@x.io'], phone: [] },
      { platformCustomerId: ['f'], email: ['b@x.io'], phone: [] },
    ])
  })
})

describe('the browsers of two merged contacts', () => {
  it('are listed in the order in which either contact used them', async () => {
    const at = (receivedAt: number, identity: Identity, visitorId: string): RequestContext => ({
      ...identify(businessId, identifyFact(identity, { visitorId })),
      receivedAt,
    })
    const [first] = await pipeline.apply(seen({ email: 'ann@x.io' }))
    await pipeline.apply(at(NOW + 1, PHONE, 'v'))
    await pipeline.apply(at(NOW + 2, { email: 'ann@x.io' }, 'w'), at(NOW + 3, { email: 'ann@x.io' }, 'v'))
    await pipeline.apply(seen({ email: 'ann@x.io', ...PHONE }))
    expect((await read((first as ContactAnswer).contactId!))?.visitorIds).toEqual(['v', 'w'])
  })
})

describe('a choice of channels', () => {
  it('is found for its own business, also when another names the contact at the same time', async () => {
    const { contactId } = await pipeline.track(seen(PHONE))
    const other = await createBusiness(stack.sql)
    const answers = await pipeline.apply(
      choose(contactId, { sms: false }, 'theirs', other.businessId),
      choose(contactId, { sms: true }, 'ours'),
    )
    expect(answers).toMatchObject([{ contactId: null }, { contactId, subscriptions: { sms: true } }])
  })

  it('that gives way to an opt-out in a merge leaves the record of the opt-out as it was', async () => {
    const ann = await pipeline.track(seen({ email: 'ann@x.io' }))
    const phone = await pipeline.track(seen(PHONE))
    await pipeline.apply(choose(ann.contactId, { sms: false }, 'STOP'))
    await pipeline.apply(choose(phone.contactId, { sms: true }, 'form'), seen({ email: 'ann@x.io', ...PHONE }))
    const recorded = await stack.sql`select subscribed, method from subscriptions where business_id = ${businessId}`
    expect([...recorded]).toEqual([{ subscribed: false, method: 'STOP' }])
  })

  describe('in a dead letter that is sent again', () => {
    const LETTER = '0198c0de-0000-7000-8000-000000000001'
    const chooseAt = (contactId: string, sms: boolean, receivedAt: number): RequestContext => ({
      ...choose(contactId, { sms }, `at ${receivedAt - NOW}`),
      receivedAt,
    })
    const again = (call: RequestContext): RequestContext => ({ ...call, replayOf: LETTER })
    const recorded = async () =>
      (await stack.sql`select subscribed, method from subscriptions where business_id = ${businessId}`).map(
        (row) => row,
      )

    it.each([true, false])(
      'gives way to one received after it, in the same micro-batch and later (opt-in: %s)',
      async (sms) => {
        const { contactId } = await pipeline.track(seen(PHONE))
        const [earlier, last] = [chooseAt(contactId, sms, NOW + 10), chooseAt(contactId, !sms, NOW + 20)]
        const answer = { subscriptions: { sms: !sms } }
        expect(await pipeline.apply(last, again(earlier))).toMatchObject([answer, answer])
        // Two dead letters. The older one repeats the choice in force, and must not make the other one look new.
        expect(await pipeline.apply(again(chooseAt(contactId, !sms, NOW + 5)))).toMatchObject([answer])
        expect(await pipeline.apply(again(earlier))).toMatchObject([answer])
        expect(await recorded()).toEqual([{ subscribed: !sms, method: 'at 20' }])
      },
    )

    it('counts at the instant of the last one', async () => {
      const { contactId } = await pipeline.track(seen(PHONE))
      await pipeline.apply(chooseAt(contactId, false, NOW))
      await pipeline.apply(again(chooseAt(contactId, true, NOW)))
      expect(await recorded()).toEqual([{ subscribed: true, method: 'at 0' }])
    })
  })

  it('that is not a replay counts in the order of the stream, whatever the clocks of two front doors say', async () => {
    const { contactId } = await pipeline.track(seen(PHONE))
    await pipeline.apply(choose(contactId, { sms: false }, 'fast clock'))
    const late = { ...choose(contactId, { sms: true }, 'slow clock'), receivedAt: NOW - 50 }
    expect(await pipeline.apply(late)).toMatchObject([{ subscriptions: { sms: true } }])
  })

  it('that is taken back before a merge of the same micro-batch leaves the record that it found', async () => {
    const ann = await pipeline.track(seen({ email: 'ann@x.io' }))
    const phone = await pipeline.track(seen(PHONE))
    await pipeline.apply(choose(ann.contactId, { sms: true }, 'first'))
    await pipeline.apply(
      choose(phone.contactId, { sms: false }, 'STOP'),
      choose(phone.contactId, { sms: true }, 'form'),
      seen({ email: 'ann@x.io', ...PHONE }),
    )
    const recorded = await stack.sql`select subscribed, method from subscriptions where business_id = ${businessId}`
    expect([...recorded]).toEqual([{ subscribed: true, method: 'first' }])
  })

  const CHOICES = [undefined, true, false]
  const every = CHOICES.flatMap((annBefore) =>
    CHOICES.flatMap((phoneBefore) =>
      CHOICES.flatMap((annNow) => CHOICES.map((phoneNow) => ({ annBefore, phoneBefore, annNow, phoneNow }))),
    ),
  )

  it('is the same, whether made before the micro-batch of the merge or in it', async () => {
    for (const { annBefore, phoneBefore, annNow, phoneNow } of every) {
      const united = async (inOne: boolean) => {
        ;({ businessId } = await createBusiness(stack.sql))
        const ann = await pipeline.track(seen({ email: 'ann@x.io' }))
        const phone = await pipeline.track(seen(PHONE))
        const chosen = (contactId: string, sms: boolean | undefined, method: string) =>
          sms === undefined ? [] : [choose(contactId, { sms }, method)]
        for (const one of [...chosen(ann.contactId, annBefore, 'a1'), ...chosen(phone.contactId, phoneBefore, 'p1')])
          await pipeline.apply(one)
        const rest = [...chosen(ann.contactId, annNow, 'a2'), ...chosen(phone.contactId, phoneNow, 'p2')]
        const merge = seen({ email: 'ann@x.io', ...PHONE })
        if (inOne) await pipeline.apply(...rest, merge)
        else for (const one of [...rest, merge]) await pipeline.apply(one)
        const rows = await stack.sql`select subscribed, method from subscriptions where business_id = ${businessId}`
        return { state: (await read(ann.contactId))?.subscriptions.sms, rows: [...rows] }
      }
      const what = JSON.stringify({ annBefore, phoneBefore, annNow, phoneNow })
      const [together, byOne] = [await united(true), await united(false)]
      expect(together.state, what).toBe(byOne.state)
      // When an opt-out was withdrawn in the same micro-batch, a different record of the same choice may stay.
      const isTakenBack = (annBefore === false && annNow) || (phoneBefore === false && phoneNow)
      expect(together.rows.length, what).toBe(byOne.rows.length)
      if (!isTakenBack) expect(together.rows, what).toEqual(byOne.rows)
    }
  })

  it('is the same for several contacts that merge step by step, wherever the calls are cut', async () => {
    const person = fc.nat(3)
    const choice = fc.record({ who: person, sms: fc.boolean() })
    const meeting = fc.record({ who: person, other: person })
    const before = fc.array(choice, { maxLength: 4 })
    const steps = fc.array(fc.oneof(choice, meeting), { minLength: 2, maxLength: 10 })
    const united = async (first: Choosing[], rest: (Choosing | Meeting)[], inOne: boolean) => {
      ;({ businessId } = await createBusiness(stack.sql))
      const people = [0, 1, 2, 3].map((n) => ({ email: `p${n}@x.io`, phone: `97250000000${n}` }))
      const ids: string[] = []
      for (const one of people) ids.push((await pipeline.track(seen(one))).contactId)
      const callOf = (step: Choosing | Meeting): RequestContext =>
        'sms' in step
          ? choose(ids[step.who]!, { sms: step.sms }, 'form')
          : seen({ email: people[step.who]!.email, phone: people[step.other]!.phone })
      for (const step of first) await pipeline.apply(callOf(step))
      if (inOne) await pipeline.apply(...rest.map(callOf))
      else for (const step of rest) await pipeline.apply(callOf(step))
      return await Promise.all(ids.map(async (id) => (await read(id))?.subscriptions.sms))
    }
    await fc.assert(
      fc.asyncProperty(before, steps, async (first, rest) => {
        expect(await united(first, rest, true)).toEqual(await united(first, rest, false))
      }),
      { numRuns: runs(60), interruptAfterTimeLimit: 30_000, examples: TAKEN_BACK },
    )
  })
})

/** An opt-out in Postgres that the micro-batch withdraws must not come back, however it is withdrawn. */
const TAKEN_BACK: [before: Choosing[], steps: (Choosing | Meeting)[]][] = [
  [
    [chose(0, true), chose(2, false)],
    [chose(1, false), met(1, 2), chose(1, true), met(0, 1)],
  ],
  [
    [chose(0, true), chose(1, false), chose(2, true)],
    [chose(1, true), met(1, 2), met(0, 1)],
  ],
  [
    [chose(0, true), chose(1, false)],
    [chose(1, true), chose(1, true), met(0, 1)],
  ],
]

interface Choosing {
  who: number
  sms: boolean
}

interface Meeting {
  who: number
  other: number
}

function chose(who: number, sms: boolean): Choosing {
  return { who, sms }
}

function met(who: number, other: number): Meeting {
  return { who, other }
}
