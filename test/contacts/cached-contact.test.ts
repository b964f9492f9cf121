import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fromCachedContact,
  identitiesOf,
  toCachedContact,
  refreshCachedContact,
} from '../../src/contacts/load/cached-contact.ts'
import { type WatchedFacts, emptyWatchedFacts } from '../../src/rules/segments/membership/watched-facts.ts'
import type { ContactState } from '../../src/rules/state.ts'

const BUSINESS = 'b'
const identity = fc.record({
  kind: fc.constantFrom('email' as const, 'phone' as const, 'platformCustomerId' as const),
  value: fc.string({ minLength: 1, maxLength: 5 }),
  proven: fc.boolean(),
})
const enrolment = fc.record({
  id: fc.uuid(),
  contactId: fc.uuid(),
  campaignId: fc.uuid(),
  version: fc.option(fc.integer({ min: 1 })),
  state: fc.constantFrom('active' as const, 'converted' as const),
  enrolledAt: fc.nat(),
  receivedAt: fc.nat(),
  endedAt: fc.option(fc.nat()),
  chain: fc.option(fc.uuid()),
  key: fc.option(fc.string()),
})
const choice = fc.record({ subscribed: fc.boolean(), at: fc.nat() })
const watched: fc.Arbitrary<WatchedFacts> = fc
  .record({ orderCount: fc.nat(), tags: fc.array(fc.string(), { maxLength: 2 }) })
  .map(({ orderCount, tags }) => ({ ...emptyWatchedFacts(), orderCount, tags: new Set(tags) }))
const parts = {
  facts: fc.option(watched),
  profile: fc.record({ firstName: fc.string(), city: fc.string() }, { requiredKeys: [], noNullPrototype: true }),
  pageFilled: fc.nat(63),
  enrolments: fc.array(enrolment, { maxLength: 2 }),
  goalLastAt: fc.uniqueArray(fc.tuple(fc.string(), fc.nat()), { maxLength: 2 }).map((times) => new Map(times)),
  pastOfKeys: fc
    .uniqueArray(fc.tuple(fc.string(), fc.record({ wasEntered: fc.boolean(), goalAt: fc.option(fc.nat()) })), {
      maxLength: 2,
    })
    .map((times) => new Map(times)),
  cleared: fc.option(fc.array(fc.string(), { maxLength: 2 }).map((keys) => new Set(keys))),
  subscriptions: fc.record({ email: choice, sms: choice }, { requiredKeys: [], noNullPrototype: true }),
  topics: fc.record({ 'news email': choice, 'news sms': choice }, { requiredKeys: [], noNullPrototype: true }),
}
const contact: fc.Arbitrary<ContactState> = fc.record({
  id: fc.uuid(),
  businessId: fc.constant(BUSINESS),
  createdAt: fc.nat(),
  version: fc.nat(),
  keyed: fc.boolean(),
  stage: fc.nat(4),
  identities: fc.uniqueArray(identity, { maxLength: 3, selector: ({ kind, value }) => `${kind} ${value}` }),
  ...parts,
  tags: fc.oneof(
    fc.nat(),
    fc.constant(null),
    fc.array(fc.string(), { maxLength: 2 }).map((tags) => new Set(tags)),
  ),
  browsers: fc.option(fc.record({ listed: fc.nat(), waiting: fc.nat() })),
  mergedIds: fc.constant([]),
})
const copyOf = (made: ContactState): ContactState => structuredClone(made)

describe('a remembered contact', () => {
  it('is recalled as it was', () => {
    fc.assert(
      fc.property(contact, (made) => {
        const was = copyOf(made)
        const remembered = toCachedContact(made, BUSINESS)
        expect(identitiesOf(remembered)).toEqual(was.identities)
        expect(fromCachedContact(remembered)).toEqual(was)
      }),
    )
  })

  it('takes over everything that may change without a new version', () => {
    fc.assert(
      fc.property(contact, fc.record(parts), fc.nat(4), (made, changed, stage) => {
        const remembered = toCachedContact(made, BUSINESS)
        const lent = Object.assign(fromCachedContact(remembered), changed, { stage })
        const was = copyOf(lent)
        refreshCachedContact(remembered, lent)
        expect(fromCachedContact(remembered)).toEqual(was)
      }),
    )
  })

  it('shares no empty collection with another contact, as deciding may fill it', () => {
    const plain = (id: string): ContactState => ({
      id,
      businessId: BUSINESS,
      createdAt: 1,
      version: 1,
      keyed: true,
      stage: 0,
      identities: [{ kind: 'email', value: id, proven: false }],
      profile: {},
      pageFilled: 0,
      enrolments: [],
      goalLastAt: new Map(),
      pastOfKeys: new Map(),
      subscriptions: {},
      topics: {},
      tags: 0,
      cleared: null,
      browsers: { listed: 0, waiting: 0 },
      mergedIds: [],
      facts: null,
    })
    const recalled = (id: string) => fromCachedContact(toCachedContact(plain(id), BUSINESS))
    const ann = recalled('ann')
    ann.profile.firstName = 'Ann'
    ann.goalLastAt.set('goal', 1)
    ann.subscriptions.email = { subscribed: true, at: 1 }
    ann.mergedIds.push('old')
    ann.identities.push({ kind: 'phone', value: '1', proven: true })
    expect(recalled('bob')).toEqual(plain('bob'))
  })
})
