import { describe, expect, it } from 'vitest'
import type { IdentityKind } from '../../src/rules/events/facts.ts'
import { type SentField, planIdentity } from '../../src/rules/identity/resolve-identity.ts'
import type { PageIdentify } from '../../src/rules/business-state.ts'
import type { ContactState } from '../../src/rules/state.ts'

type Held = [kind: IdentityKind, value: string, proven: boolean]

function contact(id: string, keyed: boolean, ...held: Held[]): ContactState {
  return {
    id,
    businessId: 'b',
    createdAt: 1,
    version: 1,
    keyed,
    stage: 0,
    identities: held.map(([kind, value, proven]) => ({ kind, value, proven })),
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
  }
}

/** Returns the fields of a call, each with the contact that has it. */
function sent(contacts: ContactState[], identity: Partial<Record<IdentityKind, string>>): SentField[] {
  const kinds: IdentityKind[] = ['platformCustomerId', 'email', 'phone']
  return kinds.flatMap((kind) => {
    const value = identity[kind]
    if (value === undefined) return []
    const owner = contacts.find((c) => c.identities.some((held) => held.kind === kind && held.value === value)) ?? null
    const proven = owner?.identities.find((held) => held.kind === kind && held.value === value)?.proven === true
    return [{ kind, value, phoneRead: true, owner, proven }]
  })
}

function plan(
  contacts: ContactState[],
  identity: Partial<Record<IdentityKind, string>>,
  keyed = true,
  pageIdentify: PageIdentify = 'open',
) {
  const made = planIdentity(sent(contacts, identity), { keyed, pageIdentify })
  return {
    target: made.target?.id ?? null,
    merges: made.merges.map((c) => c.id),
    attach: made.attach.map((field) => field.kind),
    prove: made.prove.map((field) => field.kind),
    release: made.release.map(({ contact: { id }, value }) => `${id}:${value}`),
    warnings: made.warnings.length,
  }
}
const calm = { merges: [], attach: [], prove: [], release: [], warnings: 0 }

describe('a call with a secret key', () => {
  it('makes one contact with all fields when none is known', () => {
    expect(plan([], { platformCustomerId: '1', email: 'a@x', phone: '5' })).toEqual({
      ...calm,
      target: null,
      attach: ['platformCustomerId', 'email', 'phone'],
    })
  })

  it('adds what the one contact lacked', () => {
    const a = contact('a', true, ['email', 'a@x', true])
    expect(plan([a], { email: 'a@x', phone: '5' })).toEqual({ ...calm, target: 'a', attach: ['phone'] })
  })

  it('merges contacts found by different fields, the strongest first', () => {
    const a = contact('a', true, ['phone', '5', true])
    const b = contact('b', true, ['email', 'b@x', true])
    const c = contact('c', true, ['platformCustomerId', '1', true])
    expect(plan([a, b, c], { platformCustomerId: '1', email: 'b@x', phone: '5' })).toEqual({
      ...calm,
      target: 'c',
      merges: ['b', 'a'],
    })
  })

  it('keeps two customer ids apart: the call lands on the id sent, the other field stays', () => {
    const a = contact('a', true, ['platformCustomerId', '1', true], ['email', 'a@x', true])
    const b = contact('b', true, ['platformCustomerId', '2', true])
    expect(plan([a, b], { platformCustomerId: '2', email: 'a@x' })).toEqual({ ...calm, target: 'b', warnings: 1 })
  })

  it('gives an unknown id to a contact found without one', () => {
    const a = contact('a', true, ['email', 'a@x', true])
    expect(plan([a], { platformCustomerId: '9', email: 'a@x' })).toEqual({
      ...calm,
      target: 'a',
      attach: ['platformCustomerId'],
    })
  })

  it('makes a contact for an unknown id when the others belong to another id', () => {
    const a = contact('a', true, ['platformCustomerId', '1', true], ['email', 'a@x', true])
    expect(plan([a], { platformCustomerId: '9', email: 'a@x', phone: '5' })).toEqual({
      ...calm,
      target: null,
      attach: ['platformCustomerId', 'phone'],
      warnings: 1,
    })
  })

  it('lands on the first found when two contacts with different ids are found without an id', () => {
    const a = contact('a', true, ['platformCustomerId', '1', true], ['email', 'a@x', true])
    const b = contact('b', true, ['platformCustomerId', '2', true], ['phone', '5', true])
    expect(plan([a, b], { email: 'a@x', phone: '5' })).toEqual({ ...calm, target: 'a', warnings: 1 })
  })

  it('proves an unproven field, alone or with others, on a contact that no keyed call has used', () => {
    const a = contact('a', false, ['email', 'a@x', false])
    expect(plan([a], { email: 'a@x' })).toEqual({ ...calm, target: 'a', prove: ['email'] })
    expect(plan([a], { platformCustomerId: '1', email: 'a@x' })).toEqual({
      ...calm,
      target: 'a',
      attach: ['platformCustomerId'],
      prove: ['email'],
    })
  })

  it('moves an unproven field off a contact that a keyed call has used, alone or with others', () => {
    const a = contact('a', true, ['phone', '5', true], ['email', 'a@x', false])
    expect(plan([a], { email: 'a@x' })).toEqual({ ...calm, target: null, attach: ['email'] })
    expect(plan([a], { platformCustomerId: '1', email: 'a@x' })).toEqual({
      ...calm,
      target: null,
      attach: ['platformCustomerId', 'email'],
    })
  })

  it('never merges because of an unproven field: it moves', () => {
    const squatter = contact('s', false, ['email', 'a@x', false])
    const a = contact('a', true, ['platformCustomerId', '1', true])
    expect(plan([squatter, a], { platformCustomerId: '1', email: 'a@x' })).toEqual({
      ...calm,
      target: 'a',
      attach: ['email'],
    })
  })

  it('releases an unproven customer id that differs from the one sent', () => {
    const a = contact('a', false, ['platformCustomerId', 'fake', false], ['email', 'a@x', false])
    expect(plan([a], { platformCustomerId: '1', email: 'a@x' })).toEqual({
      ...calm,
      target: 'a',
      attach: ['platformCustomerId'],
      prove: ['email'],
      release: ['a:fake'],
    })
  })

  it('is not kept from a merge by an unproven customer id', () => {
    const a = contact('a', true, ['platformCustomerId', 'fake', false], ['email', 'a@x', true])
    const b = contact('b', true, ['platformCustomerId', '2', true], ['phone', '5', true])
    expect(plan([a, b], { email: 'a@x', phone: '5' })).toEqual({
      ...calm,
      target: 'a',
      merges: ['b'],
      release: ['a:fake'],
    })
  })
})

describe('a call without a secret key', () => {
  const unkeyed = (contacts: ContactState[], identity: Partial<Record<IdentityKind, string>>) =>
    plan(contacts, identity, false)

  it('finds or makes a contact', () => {
    const a = contact('a', true, ['email', 'a@x', true])
    expect(unkeyed([a], { email: 'a@x' })).toEqual({ ...calm, target: 'a' })
    expect(unkeyed([a], { email: 'b@x' })).toEqual({ ...calm, target: null, attach: ['email'] })
  })

  it('never merges: each field that belongs to another is one warning', () => {
    const a = contact('a', false, ['email', 'a@x', false])
    const b = contact('b', false, ['phone', '5', false])
    expect(unkeyed([a, b], { email: 'a@x', phone: '5' })).toEqual({ ...calm, target: 'a', warnings: 1 })
  })

  it('adds a kind that the contact lacks, and never a second value', () => {
    const a = contact('a', true, ['email', 'a@x', true])
    expect(unkeyed([a], { email: 'a@x', phone: '5' })).toEqual({ ...calm, target: 'a', attach: ['phone'] })
    const b = contact('b', true, ['email', 'b@x', true], ['phone', '6', true])
    expect(unkeyed([b], { email: 'b@x', phone: '5' })).toEqual({ ...calm, target: 'b', warnings: 1 })
  })

  it('adds no customer id to a contact that a keyed call has used', () => {
    const used = contact('a', true, ['email', 'a@x', true])
    expect(unkeyed([used], { platformCustomerId: '1', email: 'a@x' })).toEqual({ ...calm, target: 'a', warnings: 1 })
    const fresh = contact('b', false, ['email', 'b@x', false])
    expect(unkeyed([fresh], { platformCustomerId: '1', email: 'b@x' })).toEqual({
      ...calm,
      target: 'b',
      attach: ['platformCustomerId'],
    })
  })

  it('lands on a contact of the id sent when the other fields lead to another id', () => {
    const a = contact('a', true, ['platformCustomerId', '1', true], ['email', 'a@x', true])
    const b = contact('b', true, ['platformCustomerId', '2', true])
    expect(unkeyed([a, b], { platformCustomerId: '2', email: 'a@x' })).toEqual({ ...calm, target: 'b', warnings: 1 })
    expect(unkeyed([a], { platformCustomerId: '9', email: 'a@x' })).toEqual({
      ...calm,
      target: null,
      attach: ['platformCustomerId'],
      warnings: 1,
    })
  })

  it('adds nothing to a contact that a keyed call has used where pages are not trusted', () => {
    const used = contact('a', true, ['email', 'a@x', true])
    const confirmed = (contacts: ContactState[], identity: Partial<Record<IdentityKind, string>>) =>
      plan(contacts, identity, false, 'confirmed')
    expect(confirmed([used], { email: 'a@x', phone: '5' })).toEqual({ ...calm, target: 'a', warnings: 1 })
    expect(confirmed([used], { platformCustomerId: '1', email: 'a@x', phone: '5' })).toEqual({
      ...calm,
      target: 'a',
      warnings: 2,
    })
    const fresh = contact('b', false, ['email', 'b@x', false])
    expect(confirmed([fresh], { email: 'b@x', phone: '5' })).toEqual({ ...calm, target: 'b', attach: ['phone'] })
  })
})
