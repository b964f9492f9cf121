/** Tests the audit itself: it accepts a correct run, and finds each kind of fault. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, openService } from '../support/service.ts'
import { compare } from './audit.ts'
import { type Business, createFaultsBusiness } from './create-businesses.ts'
import { Ledger, type Sending } from './ledger.ts'
import { type Enrolment, type Held, type Move, readHeld } from './read-held.ts'
import { seeded } from './seeded.ts'
import { sendRare } from './send-rare.ts'
import { startTraffic } from './traffic.ts'

let service: Service
const ledger = new Ledger()
let businesses: Business[]
let honest: Held

beforeAll(async () => {
  service = await openService({ TRUST_PROXY: 'true' }, { ownClickHouse: true })
  businesses = [await createFaultsBusiness(service.sql), await createFaultsBusiness(service.sql)]
  const traffic = startTraffic({ url: service.url, businesses, ledger, chance: seeded(7), pauseMs: 10 })
  for (const business of businesses) await sendRare(service.url, business, ledger)
  while (ledger.attempts().length < ENOUGH) await sleep(50)
  await traffic.stop()
  await service.shipped()
  honest = await held()
})
afterAll(() => service.close())

const ENOUGH = 150

const held = () =>
  readHeld(
    service,
    businesses.map(({ businessId }) => businessId),
  )
const complaintsOf = async () => compare(ledger, await held()).complaints.join('\n')

it('finds nothing in a correct run, which has everything in it', () => {
  const { complaints, acknowledged, recorded } = compare(ledger, honest)
  expect(complaints).toEqual([])
  expect(recorded).toBe(acknowledged)
  expect(acknowledged).toBeGreaterThan(100)
})

/**
 * Each mutation changes the data that was read, as a fault of the product would. `words`: text of the expected
 * complaint.
 */
const MUTATIONS: [fault: string, words: string, mutate: (held: Held) => void][] = [
  ['an event lost in Postgres', 'lost:', ({ postgresMarks }) => postgresMarks.delete(first(postgresMarks))],
  ['an event lost in ClickHouse', 'lost:', ({ clickhouseMarks }) => clickhouseMarks.delete(first(clickhouseMarks))],
  ['an event recorded twice', 'doubled:', ({ postgresMarks }) => (anyOf(postgresMarks).times = 2)],
  ['a timeline row shipped twice', 'doubled:', ({ clickhouseMarks }) => (anyOf(clickhouseMarks).times = 2)],
  ['an event that nobody sent', 'unexplained:', ({ clickhouseMarks: marks }) => marks.set('stray', anyOf(marks))],
  ['an event of another instant', 'occurred at', ({ clickhouseMarks }) => (anyOf(clickhouseMarks).occurredAt += 1)],
  ['an event received in an hour', 'when nobody sent', (held) => (anyOf(held.postgresMarks).receivedAt += 3_600_000)],
  ['an event of another source', 'was never sent so', ({ postgresMarks }) => (anyOf(postgresMarks).source = 'browser')],
  ['a statistic that is one short', 'Postgres:', ({ postgresSums }) => lower(postgresSums, ' event ')],
  ['an order too few', 'Postgres:', ({ postgresSums }) => lower(postgresSums, ' orders')],
  ['revenue off by a cent', 'Postgres:', ({ postgresSums }) => lower(postgresSums, ' revenue ')],
  ['a view that counted twice', 'ClickHouse:', ({ clickhouseSums }) => lower(clickhouseSums, ' event ')],
  ['a snapshot left behind', 'ClickHouse:', ({ clickhouseSums }) => lower(clickhouseSums, ' revenue ')],
  ['a day that is wrong', 'revenue', ({ clickhouseRevenue }) => lower(clickhouseRevenue, ' revenue ')],
  ['a tag lost', ' tags is', ({ postgresSums }) => change(postgresSums, ' tags', 'tag 1 ✓')],
  ['a tag too many in ClickHouse', ' tags is', ({ clickhouseSums }) => change(clickhouseSums, ' tags', 'other')],
  ['an older trait that won', ' trait score is', ({ postgresSums }) => change(postgresSums, ' trait score', '5 1')],
  ['a trait that stayed behind', ' trait plan is', ({ clickhouseSums }) => change(clickhouseSums, ' trait plan', '1')],
  ['a stage gone back', ' stage is', ({ postgresSums }) => change(postgresSums, ' stage', 'Awareness')],
  ['a field of another type', 'custom field', ({ fields }) => change(fields, ' is_vip', 'Text')],
  [
    'a trait that was said without a key',
    'custom field',
    ({ fields }) => fields.set(`${businesses[0]?.businessId} said_without_key`, 'Boolean'),
  ],
  ['a contact made twice', 'contact twin is nobody', ({ contacts }) => contacts.set('twin', alone('twin', contacts))],
  ['two people on one contact', 'people:', (held) => mergeWrongly(held)],
  ['an identity gone', 'lie on', (held) => held.identities.delete(proven(held))],
  ['an identity that nobody sent', 'nobody sent', ({ identities }) => identities.set('stray', anyOf(identities))],
  ['a proof forgotten', 'is not proven', (held) => (of(held.identities, proven(held)).proven = false)],
  ['a proof without a key', 'is proven, and no call', (held) => (unproven(held)[1].proven = true)],
  [
    'a second value without a key',
    'got 4 values',
    (held) => {
      const [name, identity] = unproven(held)
      of(held.contacts, identity.contactId).mergedIds = []
      for (const more of ['a', 'b', 'c']) held.identities.set(`${name}${more}`, identity)
    },
  ],
  ['a merge that nobody asked for', 'nobody with a key asked', ({ moves }) => (moveOf(moves, 'merged').evidence = [])],
  ['a merge logged twice', 'was merged away 2 times', ({ moves }) => moves.push(moveOf(moves, 'merged'))],
  ['a name that no call sent', 'is called', ({ contacts }) => (named(contacts).firstName = 'Nobody')],
  ['a name that was dropped', 'has no name', (held) => forgetName(held)],
  [
    'an identify kept twice',
    'is kept 2 times',
    ({ identifications }) => anyOf(identifications).push(...anyOf(identifications)),
  ],
  ['an identify trusted wrongly', 'another trust', ({ identifications }) => turn(anyOf(identifications)[0])],
  ['an enrolment missing', 'was never enrolled', (held) => (held.enrolments = [])],
  ['an enrolment too many', 'times, not', (held) => held.enrolments.push({ ...onceOnly(held) })],
  ['an enrolment of two', 'is active twice', ({ enrolments }) => enrolments.push({ ...inState(enrolments, 'active') })],
  [
    'an enrolment by a batch',
    'by no live trigger',
    ({ enrolments }) => (inState(enrolments, 'active').receivedAt -= 1),
  ],
  ['a goal that was missed', ' is active since', ({ enrolments }) => revive(inState(enrolments, 'converted'))],
  ['a goal that never was', ' is converted since', ({ enrolments }) => end(inState(enrolments, 'active'), 'converted')],
  ['a stop without a goal', ' is stopped since', (held) => stopWithoutGoal(held)],
  ['an end as merged alone', ' is merged since', ({ enrolments }) => endAlone(enrolments)],
  [
    'an enrolment of a lost contact',
    'belongs to no contact',
    ({ enrolments }) => (inState(enrolments, 'active').contactId = 'x'),
  ],
]

describe('finds', () => {
  it.each(MUTATIONS)('%s', (_fault, words, mutate) => {
    const read = structuredClone(honest)
    mutate(read)
    expect(compare(ledger, read).complaints.join('\n')).toContain(words)
  })

  it('an answer that claims to be the first twice, or names another contact', () => {
    const [sending] = ledger.sendings.filter(({ kind, attempts }) => kind === 'track' && attempts[0]?.data.isNew)
    const [attempt] = sending?.attempts ?? []
    if (!sending || !attempt) throw new Error('nobody was new')
    sending.attempts.push({ ...attempt })
    const complaints = compare(ledger, honest).complaints.join('\n')
    sending.attempts.pop()
    expect(complaints).toMatch(/answers are the first of[\s\S]*was new in 2 answers/)
  })

  it('an answer without a key that names a stranger, or does not say what it ignored', () => {
    const { data } = answeredWithoutKey()
    const { contactId, warnings } = data
    const stranger = [...honest.contacts.keys()].filter((id) => id !== contactId).at(-1)
    Object.assign(data, { contactId: stranger, warnings: [] })
    const complaints = compare(ledger, honest).complaints.join('\n')
    Object.assign(data, { contactId, warnings })
    expect(complaints).toContain('which never had its names')
    expect(complaints).toContain('got no warning')
  })
})

describe('reads the stores themselves', () => {
  it('a row that went, and one that came twice', async () => {
    const { sql, clickhouse } = service
    const addToOne = (n: number) => sql`
      update event_statistics set count = count + ${n}
      where (contact_id, event) = (select contact_id, event from event_statistics order by 1, 2 limit 1)`
    await addToOne(1)
    expect(await complaintsOf()).toContain('Postgres:')
    await addToOne(-1)
    expect(await complaintsOf()).toBe('')

    const [outbox] = await sql<[{ id: number; events: string }]>`
      select id, events from outbox where event_count > 0 limit 1`
    await sql`update outbox set events = events || E'\n' || events where id = ${outbox.id}`
    expect(await complaintsOf()).toContain('doubled:')
    await sql`update outbox set events = ${outbox.events} where id = ${outbox.id}`

    await clickhouse.command({
      query: 'insert into events select * from events limit 1 settings insert_deduplicate = 0',
    })
    expect(await complaintsOf()).toMatch(/doubled:[\s\S]*ClickHouse:/)
    await clickhouse.command({ query: 'alter table events delete where 1 settings mutations_sync = 2' })
    expect(await complaintsOf()).toContain('lost:')
  })
})

function found<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('the run had nothing of the kind')
  return thing
}

const first = (map: Map<string, unknown>): string => found([...map.keys()][0])
const of = <T>(map: Map<string, T>, key: string): T => found(map.get(key))
const anyOf = <T>(map: Map<string, T>): T => of(map, first(map))

const nameOf = (sums: Map<string, string>, what: string): string =>
  found([...sums.keys()].find((name) => name.includes(what)))
const change = (sums: Map<string, string>, what: string, to: string) => sums.set(nameOf(sums, what), to)

function lower(sums: Map<string, string>, what: string): void {
  const name = nameOf(sums, what)
  const [amount = '', ...rest] = of(sums, name).split(' ')
  sums.set(name, [Number(amount) - 1, ...rest].join(' '))
}

const alone = (id: string, contacts: Held['contacts']) => ({ ...anyOf(contacts), survivor: id, mergedIds: [] })
const proven = ({ identities }: Held): string => found([...identities].find((one) => one[1].proven))[0]
const unproven = ({ identities }: Held) => found([...identities].find((one) => !one[1].proven))
const moveOf = (moves: Move[], action: Move['action']): Move => found(moves.find((move) => move.action === action))
const named = (contacts: Held['contacts']) => found([...contacts.values()].find(({ firstName }) => firstName !== null))

/** People of two businesses are certainly different. */
function mergeWrongly({ identities }: Held): void {
  const [one, other] = businesses.map(({ businessId }) =>
    found([...identities].find(([name]) => name.startsWith(businessId))),
  )
  found(other)[1].contactId = found(one)[1].contactId
}

/** Removes the name of a contact for which a call with a key has sent one. */
function forgetName({ contacts, identities }: Held): void {
  const sending = found(
    ledger.sendings.find(
      ({ firstName, unkeyed, attempts }) =>
        firstName && !unkeyed && attempts.some(({ outcome }) => outcome === 'answered'),
    ),
  )
  of(contacts, of(identities, `${sending.business.businessId} ${sending.identity[0]}`).contactId).firstName = null
}

function turn(identification: { keyed: boolean } | undefined): void {
  if (identification) identification.keyed = !identification.keyed
}

function answeredWithoutKey(): Sending['attempts'][number] {
  const attempts = ledger.sendings.flatMap(({ unkeyed, attempts }) => (unkeyed ? attempts : []))
  return found(attempts.find(({ outcome }) => outcome === 'answered'))
}

const inState = (enrolments: Enrolment[], state: string): Enrolment =>
  found(enrolments.find((enrolment) => enrolment.state === state))

/** Returns the enrolment of a person who was never merged, in a campaign that cannot be entered again. */
function onceOnly({ enrolments, contacts }: Held): Enrolment {
  const ids = businesses.flatMap(({ campaigns }) =>
    campaigns.flatMap((one) => (one.canEnterAgain ? [] : [one.campaignId])),
  )
  const own = enrolments.filter(({ campaignId }) => ids.includes(campaignId))
  return found(own.find(({ contactId }) => of(contacts, contactId).mergedIds.length === 0))
}

function end(enrolment: Enrolment, state: string): void {
  Object.assign(enrolment, { state, endedAt: Date.now() })
}

function revive(enrolment: Enrolment): void {
  Object.assign(enrolment, { state: 'active', endedAt: null })
}

/** An enrolment is stopped only if the goal came first. This one belongs to a contact without the goal. */
function stopWithoutGoal({ enrolments, postgresSums }: Held): void {
  const goals = ['course_bought', 'purchase']
  const without = enrolments.find(
    ({ contactId, state }) =>
      state === 'active' && goals.every((goal) => !postgresSums.has(`${contactId} event ${goal}`)),
  )
  end(found(without), 'stopped')
}

function endAlone(enrolments: Enrolment[]): void {
  const only = enrolments.find(
    ({ contactId, campaignId }, at) =>
      !enrolments.some((one, index) => index !== at && one.contactId === contactId && one.campaignId === campaignId),
  )
  end(found(only), 'merged')
}
