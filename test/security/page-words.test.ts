// @long
/**
 * An attacker without a key who knows a business's id and a person's email, over real HTTP: sentence by sentence of
 * decisions, "Callers without a secret key". With `open`, exactly what the contract allows is possible. With
 * `confirmed`, none of it affects a person whom servers have used.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PAGE_IDENTIFY, type PageIdentify } from '../../src/rules/business-state.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { BROWSER, type Speak, speakTo } from '../front-door/http-client.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ TRUST_PROXY: 'true' }))
let speak: Speak
let business: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})

type Fields = Record<string, unknown>
interface Identified {
  contactId: string
  isNew: boolean
  subscriptions: Record<string, boolean>
  warnings?: string[]
}
interface Person {
  contactId: string
  firstName: string | null
  lastName: string | null
  tags: string[]
  customFields: Fields
  stage: string
  revenue: { total: number }
  orderCount: number
  identities: { email: string[]; phone: string[]; platformCustomerId: string[] }
  subscriptions: Record<string, boolean>
  mergedFrom: string[]
}

const VICTIM = { email: 'victim@x.io' }
const VICTIM_PHONE = '+972541234567'
const BAD_PHONE = '+972547654321'

let addresses = 0
/** Each call has an address of its own, because the attacker has many. */
const elsewhere = () => ({ ...BROWSER, 'x-forwarded-for': `203.0.${(addresses += 1) >> 8}.${addresses & 255}` })

async function said<T>(path: string, json: Fields, key?: string): Promise<T> {
  const answer = await speak('POST', path, { json, headers: elsewhere(), ...(key !== undefined && { key }) })
  expect([path, answer.status, answer.body.error?.code]).toEqual([path, 200, undefined])
  return answer.body.data as T
}
/** Calls as the attacker, who can be anyone. */
const attack = (identity: Fields, more: Fields = {}) =>
  said<Identified>('/api/sdk/identify', { businessId: business.businessId, identity, ...more })
/** Calls as the business's own servers. */
const identify = (identity: Fields, more: Fields = {}) =>
  said<Identified>('/api/sdk/identify', { identity, ...more }, business.secretKey)
const buy = (identity: Fields, value = 10) =>
  said<Identified>('/api/sdk/track', { event: 'order', type: 'purchase', value, identity }, business.secretKey)
const find = async (query: Record<string, string>): Promise<Person | null> => {
  const { body } = await speak('GET', `/api/contacts?${new URLSearchParams(query).toString()}`, {
    key: business.secretKey,
  })
  const [person] = body.data['contacts'] as (Person & { engagement?: unknown })[]
  // ClickHouse computes engagement, and with a delay.
  delete person?.engagement
  return person ?? null
}
const victim = async () => (await find(VICTIM))!
const subscribe = (contactId: string, channels: Record<string, boolean>) =>
  speak('PUT', `/api/contacts/${contactId}/subscriptions`, {
    key: business.secretKey,
    json: { ...channels, method: 'form' },
  })

describe.each(PAGE_IDENTIFY)('with pageIdentify %s, an attacker', (setting) => {
  beforeEach(async () => {
    business = await createBusiness(service.sql, { pageIdentify: setting, country: 'IL' })
  })
  const isOpen = setting === 'open'

  describe('who is first', () => {
    it('does not get the purchases of a person whose email they gave a customer id of theirs', async () => {
      await attack({ ...VICTIM, platformCustomerId: 'ATT' })
      await buy(VICTIM)
      await buy({ platformCustomerId: 'ATT' }, 1)
      const [attacker, person] = [await find({ platformCustomerId: 'ATT' }), await victim()]
      expect(attacker!.contactId).not.toBe(person.contactId)
      expect([attacker!.revenue.total, person.revenue.total]).toEqual([1, 10])
      expect(person.identities).toMatchObject({ email: [VICTIM.email], platformCustomerId: [] })
      await buy({ ...VICTIM, platformCustomerId: 'V' })
      expect(await victim()).toMatchObject({ contactId: person.contactId, revenue: { total: 20 } })
    })

    it('does not get them either by adding the email to their own account', async () => {
      await buy({ platformCustomerId: 'ATT' }, 1)
      const { warnings = [] } = await attack({ ...VICTIM, platformCustomerId: 'ATT' })
      expect(warnings).toHaveLength(isOpen ? 0 : 1)
      await buy(VICTIM)
      expect((await victim()).revenue.total).toBe(10)
      const attacker = await find({ platformCustomerId: 'ATT' })
      expect([attacker!.revenue.total, attacker!.identities.email]).toEqual([1, []])
    })

    it('does not keep the person from their own customer id', async () => {
      await attack({ ...VICTIM, platformCustomerId: 'ATT' })
      const { warnings } = await buy({ ...VICTIM, platformCustomerId: 'V' })
      expect(warnings).toBeUndefined()
      expect((await victim()).identities.platformCustomerId).toEqual(['V'])
      expect(await find({ platformCustomerId: 'ATT' })).toBeNull()
    })

    it('does not merge two strangers by naming both', async () => {
      await attack({ ...VICTIM, phone: VICTIM_PHONE })
      await buy(VICTIM)
      await buy({ phone: VICTIM_PHONE }, 1)
      expect((await victim()).revenue.total).toBe(10)
      expect((await find({ phone: VICTIM_PHONE }))!.revenue.total).toBe(1)
    })
  })

  describe('who names a person whom servers have used', () => {
    beforeEach(() => buy(VICTIM))

    it('gets no customer id onto them, and merges nothing', async () => {
      const before = await victim()
      await buy({ platformCustomerId: 'OTHER' }, 1)
      const onto = await attack({ ...VICTIM, platformCustomerId: 'ATT' })
      expect([onto.contactId, onto.warnings?.length]).toEqual([before.contactId, 1])
      const beside = await attack({ ...VICTIM, platformCustomerId: 'OTHER' })
      expect(beside.contactId).not.toBe(before.contactId)
      expect(beside.warnings).toHaveLength(1)
      expect(await victim()).toEqual(before)
      expect(await find({ platformCustomerId: 'ATT' })).toBeNull()
    })

    it('adds a phone with open alone, which is never the primary one', async () => {
      const { warnings = [] } = await attack({ ...VICTIM, phone: BAD_PHONE })
      expect(warnings).toHaveLength(isOpen ? 0 : 1)
      expect((await victim()).identities.phone).toEqual(isOpen ? [BAD_PHONE] : [])
      await attack({ ...VICTIM, phone: '+972541111111' })
      await identify({ ...VICTIM, phone: VICTIM_PHONE })
      expect((await victim()).identities.phone).toEqual(isOpen ? [VICTIM_PHONE, BAD_PHONE] : [VICTIM_PHONE])
      // Servers decide whose phone it is: only the phone leaves the victim, and nothing else does.
      await buy({ phone: BAD_PHONE }, 1)
      expect((await victim()).identities.phone).toEqual([VICTIM_PHONE])
      expect((await victim()).revenue.total).toBe(10)
    })

    it('adds no second email by what they know of them', async () => {
      await buy({ ...VICTIM, platformCustomerId: 'V', phone: VICTIM_PHONE })
      for (const known of [{ platformCustomerId: 'V' }, { phone: VICTIM_PHONE }]) {
        const { warnings } = await attack({ ...known, email: 'attacker@x.io' })
        expect(warnings).toHaveLength(1)
      }
      expect((await victim()).identities.email).toEqual([VICTIM.email])
    })

    it('sets no trait, no tag and no amount', async () => {
      const { warnings } = await attack(VICTIM, { traits: { plan: 'pro' }, tags: ['vip'], value: 100 })
      expect(warnings).toHaveLength(3)
      expect(await victim()).toMatchObject({ customFields: {}, tags: [], revenue: { total: 10 }, orderCount: 1 })
    })

    it('overwrites no name; what fills a gap stays with open alone, else a server replaces it', async () => {
      await attack(VICTIM, { profile: { name: 'You Won' } })
      await identify(VICTIM, { profile: { firstName: 'Ann' } })
      expect((await victim()).firstName).toBe(isOpen ? 'You' : 'Ann')
      await attack(VICTIM, { profile: { firstName: 'Again', lastName: 'Again' } })
      expect(await victim()).toMatchObject({ firstName: isOpen ? 'You' : 'Ann', lastName: 'Won' })
    })

    it('sends them no message by a name', async () => {
      const names = [
        { name: 'Ann see HTTP://evil.example now' },
        { firstName: 'WWW.evil.example' },
        { lastName: 'x'.repeat(101) },
      ]
      for (const profile of names) expect((await attack(VICTIM, { profile })).warnings).toHaveLength(1)
      expect(await victim()).toMatchObject({ firstName: null, lastName: null })
    })

    it('learns what they are subscribed to by a second call with open alone, else never', async () => {
      await subscribe((await victim()).contactId, { email: true })
      const visitorId = 'a'.repeat(32)
      const first = await attack(VICTIM, { visitorId })
      const second = await attack(VICTIM, { visitorId })
      const third = await attack(VICTIM, { visitorId })
      expect([first, second, third].map(({ subscriptions }) => subscriptions['email'])).toEqual([false, isOpen, isOpen])
    })

    it('opts no person in, and takes no opt-out away', async () => {
      const { contactId } = await victim()
      await subscribe(contactId, { email: false })
      await attack({ ...VICTIM, phone: BAD_PHONE }, { subscriptions: { email: true, sms: true } })
      expect((await victim()).subscriptions).toMatchObject({ email: false, sms: false })
    })
  })

  it('does not remove an opt-out of a person by moving their email', async () => {
    await buy({ platformCustomerId: '1' })
    await attack({ platformCustomerId: '1', ...VICTIM })
    const named = await find(VICTIM)
    await subscribe((await find({ platformCustomerId: '1' }))!.contactId, { email: false })
    await buy({ platformCustomerId: '2', ...VICTIM })
    const { contactId } = await victim()
    const [record] = await service.sql`
      select subscribed, method from subscriptions where contact_id = ${contactId} and channel = 'email'`
    // Only when a page could add the email in the first place.
    expect(record && { ...record }).toEqual(isOpen ? { subscribed: false, method: 'form' } : undefined)
    expect(named === null).toBe(!isOpen)
  })

  it('changes nothing of what servers know and count, whatever they say in between', async () => {
    const servers: (() => Promise<unknown>)[] = [
      () => buy({ email: 'a@x.io' }, 1),
      () => buy({ phone: VICTIM_PHONE }, 2),
      () => buy({ platformCustomerId: '1', email: 'a@x.io' }, 4),
      () => buy({ platformCustomerId: '2', phone: VICTIM_PHONE }, 8),
      () => buy({ email: 'b@x.io', phone: VICTIM_PHONE }, 16),
      () => buy({ email: 'c@x.io' }, 32),
      () => buy({ platformCustomerId: '1', email: 'c@x.io' }, 64),
    ]
    const lies = [
      { email: 'a@x.io', phone: VICTIM_PHONE },
      { platformCustomerId: '3', email: 'c@x.io' },
      { platformCustomerId: '1', email: 'c@x.io', phone: BAD_PHONE },
      { platformCustomerId: '2', email: 'b@x.io' },
      { email: 'b@x.io', platformCustomerId: '1' },
    ]
    for (const step of servers) await step()
    const alone = await proven(business.businessId)
    business = await createBusiness(service.sql, { pageIdentify: setting, country: 'IL' })
    for (const [n, step] of servers.entries()) {
      for (const lie of [lies[n % lies.length]!, lies[(n + 2) % lies.length]!]) await attack(lie)
      await step()
    }
    expect(await proven(business.businessId)).toEqual(alone)
    expect(alone).toHaveLength(2)
  })
})

/** Returns what servers have proven about each person, and what it counts. */
async function proven(businessId: string): Promise<unknown[]> {
  const rows = await service.sql<{ person: unknown }[]>`
    select json_build_array(names.all, c.order_count, (
      select json_agg(r.amount::text) from revenue r where r.business_id = c.business_id and r.contact_id = c.id
    )) as person
    from contacts c cross join lateral (
      select json_agg(i.kind || ' ' || i.value order by i.kind, i.value) as all from identities i
      where i.business_id = c.business_id and i.contact_id = c.id and i.proven
    ) names
    where c.business_id = ${businessId} and c.merged_into is null and names.all is not null order by names.all::text`
  return rows.map(({ person }) => person)
}

it('the setting holds for the next call after the command of an operator, in both directions', async () => {
  business = await createBusiness(service.sql, { country: 'IL' })
  await buy(VICTIM)
  const set = async (value: PageIdentify) => {
    const words = ['business', 'update', business.businessId, '--page-identify', value]
    expect((await runAdminQuietly(words, service.config)).exitCode).toBe(0)
  }
  await subscribe((await victim()).contactId, { email: true })
  const visitorId = 'b'.repeat(32)
  const learns = async () => (await attack(VICTIM, { visitorId })).subscriptions['email']
  expect([await learns(), await learns()]).toEqual([false, true])
  await set('confirmed')
  expect(await learns()).toBe(false)
  expect((await attack({ ...VICTIM, phone: BAD_PHONE })).warnings).toHaveLength(1)
  await set('open')
  expect((await attack({ ...VICTIM, phone: BAD_PHONE })).warnings).toBeUndefined()
})
