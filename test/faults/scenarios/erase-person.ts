import { setTimeout as sleep } from 'node:timers/promises'
import { compare } from '../audit.ts'
import { checkSegments } from '../check-segments.ts'
import { type Fact, Ledger, type Sending, isAcknowledged } from '../ledger.ts'
import { readHeld } from '../read-held.ts'
import type { Scenario, Stage } from '../run-scenario.ts'
import { streamKey } from '../../../src/stream/keys.ts'
import { deliver } from '../traffic.ts'
import { type Business, type World, createBusinesses } from '../world.ts'

const ERASED_MS = 60_000
const AGAIN_MS = 100

/**
 * A person is erased during their own live events, batches and repeats, with a dead letter, and while ClickHouse is
 * away: nothing from before remains, nothing returns, and later events belong to a new contact.
 */
export const erasePerson: Scenario = {
  name: 'a person erased in the middle of their traffic',
  frontDoorStays: true,
  async run(stage) {
    const [business] = await createBusinesses(stage.world, 1)
    if (!business) return
    for (let round = 0; round < stage.times(1, 10); round += 1)
      await eraseOnce(stage, business, `p${round}-${stage.chance.below(1e6)}`)
    const nothing = { acknowledged: 0, recorded: 0, lost: 0, doubled: 0 }
    stage.alsoAudit(async () => ({
      ...nothing,
      complaints: await checkSegments(stage.world.own, [business.businessId]),
    }))
  },
}

async function eraseOnce({ world, chance, check }: Stage, business: Business, name: string): Promise<void> {
  const ledger = new Ledger()
  const email = `${name}@erased.example`
  const phone = String(12_124_000_000 + chance.below(1_000_000))
  const person = { business, ledger, email, phone }
  await deliver(world.url, track(person, { email }))
  await deliver(world.url, track(person, { phone: `+${phone}` }))
  const contactId = await deliverBoth(world, person)
  await world.own.redis.xadd(streamKey('live-0'), '*', 'd', unreadable(business, email), 'w', '{}')

  const stopping = new AbortController()
  const keepSending = async (next: () => Sending) => {
    while (!stopping.signal.aborted) await deliver(world.url, next(), stopping.signal)
  }
  const senders = [
    keepSending(() => track(person, both(person))),
    keepSending(() => batch(person, chance.between(1, 20))),
    keepSending(() => chance.pick(ledger.sendings)),
  ]
  await sleep(chance.between(200, 700))
  const without = chance.is(0.5)
  if (without) await world.clickhouse.kill()
  const requestedAt = Date.now()
  const status = await eraseUntilDone(world, business, contactId)
  const erasedAt = Date.now()
  check(status === 200, `the erasure was answered with ${status} in the end`)
  await sleep(chance.between(200, 500))
  if (without) await world.clickhouse.start()
  stopping.abort()
  await Promise.all(senders)
  await untilShipped(world, business)
  for (const complaint of await findLeftovers(world, person, ledger, { requestedAt, erasedAt })) check(false, complaint)
  // The next round must not find data of this one.
  const next = await idOf(world, business, email)
  const ended = next === undefined ? 200 : await eraseUntilDone(world, business, next)
  check(ended === 200, `the last erasure was answered with ${ended} in the end`)
  await untilShipped(world, business)
}

/** Waits for this business only, because the other traffic continues. */
async function untilShipped({ own: { sql } }: World, { businessId }: Business): Promise<void> {
  const deadline = Date.now() + ERASED_MS
  for (;;) {
    const [row] = await sql<[{ left: number }]>`
      select (select count(*)::int from outbox where shipped_at is null and ${businessId}::uuid = any(business_ids))
        + (select count(*)::int from erasures where deleted_at is null and business_id = ${businessId}) as left`
    if (row.left === 0) return
    if (Date.now() > deadline) throw new Error(`An erasure was not finished within ${ERASED_MS} ms`)
    await sleep(50)
  }
}

interface Person {
  business: Business
  ledger: Ledger
  email: string
  phone: string
}

type Identity = { email?: string; phone?: string }

const both = ({ email, phone }: Person): Identity => ({ email, phone: `+${phone}` })

async function deliverBoth(world: World, person: Person): Promise<string> {
  const sending = track(person, both(person))
  await deliver(world.url, sending)
  return sending.attempts.at(-1)?.data.contactId ?? ''
}

function eventOf({ business, email, phone }: Person, identity: Identity): { body: object; fact: Fact } {
  const mark = crypto.randomUUID()
  const key = `key-${mark}`
  const occurredAt = Date.now()
  const names = [...(identity.email ? [`email:${email}`] : []), ...(identity.phone ? [`phone:${phone}`] : [])]
  const body = {
    event: 'purchase',
    identity,
    value: 1.5,
    currency: 'USD',
    occurredAt,
    properties: { mark },
    idempotencyKey: key,
  }
  const money = { cents: 150, currency: 'USD', order: true }
  const fact = {
    mark,
    businessId: business.businessId,
    event: 'purchase',
    identity: names,
    occurredAt,
    ...money,
    key,
    valid: true,
  }
  return { body, fact }
}

function track(person: Person, identity: Identity): Sending {
  const { body, fact } = eventOf(person, identity)
  const { business, ledger } = person
  return ledger.open({
    business,
    kind: 'track',
    body,
    facts: [fact],
    mark: fact.mark,
    identity: fact.identity,
    known: 0,
  })
}

function batch(person: Person, size: number): Sending {
  const events = Array.from({ length: size }, () => eventOf(person, both(person)))
  const body = { events: events.map(({ body }) => body) }
  const facts = events.map(({ fact }) => fact)
  return person.ledger.open({ business: person.business, kind: 'batch', body, facts, mark: '', identity: [], known: 0 })
}

/** An entry as a front door of another version might write it. */
const unreadable = ({ businessId }: Business, email: string): string =>
  JSON.stringify({ frontDoor: 'other', requests: [{ kind: 'track', businessId, fact: { identity: { email } } }] })

async function erase({ url }: World, { secretKey }: Business, contactId: string): Promise<number> {
  const headers = { authorization: `Bearer ${secretKey}` }
  const response = await fetch(`${url}/api/contacts/${contactId}`, { method: 'DELETE', headers, keepalive: false })
  await response.arrayBuffer()
  return response.status
}

/**
 * Repeats the erasure like a caller, while it is only queued or refused. A repeat that finds no contact is done, too.
 * Resolves with the last status.
 */
async function eraseUntilDone(world: World, business: Business, contactId: string): Promise<number> {
  const deadline = Date.now() + ERASED_MS
  for (let isRepeat = false; ; isRepeat = true) {
    const status = await erase(world, business, contactId)
    if (isRepeat && status === 404) return 200
    if ((status !== 202 && status !== 503) || Date.now() > deadline) return status
    await sleep(AGAIN_MS)
  }
}

async function idOf({ own: { sql } }: World, { businessId }: Business, email: string): Promise<string | undefined> {
  const [row] = await sql<{ contact_id: string }[]>`
    select contact_id from identities where business_id = ${businessId} and kind = 'email' and value = ${email}`
  return row?.contact_id
}

async function findLeftovers(
  world: World,
  { business, email }: Person,
  ledger: Ledger,
  { requestedAt, erasedAt }: { requestedAt: number; erasedAt: number },
): Promise<string[]> {
  const held = await readHeld(world.own, [business.businessId])
  const isHeld = ({ mark }: Fact) => held.postgresMarks.has(mark) || held.clickhouseMarks.has(mark)
  const startOf = ({ attempts }: Sending) => Math.min(...attempts.map(({ sentAt }) => sentAt))
  const answeredAt = ({ attempts }: Sending) =>
    Math.min(...attempts.filter(({ outcome }) => outcome === 'answered').map(({ endedAt }) => endedAt))
  const before = ledger.sendings.filter((sending) => answeredAt(sending) < requestedAt)
  const between = ledger.sendings.filter((one) => !before.includes(one) && startOf(one) <= erasedAt)
  const after = new Ledger()
  for (const sending of ledger.sendings)
    if (!before.includes(sending) && !(between.includes(sending) && !sending.facts.some(isHeld)))
      after.sendings.push(sending)
  const repeats = before
    .flatMap(({ kind, attempts }) => (kind === 'track' ? attempts : []))
    .filter(({ sentAt, outcome }) => sentAt > erasedAt && outcome === 'answered')
  const lateIsNew = repeats.filter(({ data }) => data.deduped !== true || data.isNew !== false)
  return [
    ...(after.sendings.filter(isAcknowledged).length < 3 ? ['too little came after the erasure to judge it'] : []),
    ...(lateIsNew.length > 0 ? [`${lateIsNew.length} repeats of erased events were applied`] : []),
    ...compare(after, held).complaints,
    ...(await countTraces(world, business, email)),
  ]
}

/** Erased ids must remain only in `erasures`, and as marks in ClickHouse. */
async function countTraces(
  { own: { sql, clickhouse } }: World,
  { businessId }: Business,
  email: string,
): Promise<string[]> {
  const rows = await sql<{ contact_id: string }[]>`select contact_id from erasures where business_id = ${businessId}`
  const ids = rows.map(({ contact_id }) => contact_id)
  const list = `{${ids.join(',')}}`
  const traces: Record<string, number> = {}
  for (const table of [
    'identities',
    'event_statistics',
    'revenue',
    'identifications',
    'subscriptions',
    'enrolments',
    'segment_members',
    'segment_clock',
    'segment_windows',
    'segment_window_refreshes',
    'merge_log',
  ]) {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from ${sql(table)} where business_id = ${businessId} and contact_id = any(${list}::uuid[])`
    traces[table] = row?.n ?? -1
  }
  const [row] = await sql<{ contacts: number; outbox: number; letters: number }[]>`
    select (select count(*)::int from contacts where business_id = ${businessId} and id = any(${list}::uuid[])) as contacts,
      (select count(*)::int from outbox where contact_ids && ${list}::uuid[]) as outbox,
      (select count(*)::int from dead_letters where position(${email} in payload) > 0) as letters`
  Object.assign(traces, row)
  for (const [table, where] of [
    ['events', '1'],
    ['event_statistics', '1'],
    ['contact_snapshots', 'erased = 0'],
  ] as const) {
    const query = `select toString(count()) as n from ${table} where contact_id in {ids: Array(UUID)} and ${where}`
    const result = await clickhouse.query({ query, query_params: { ids }, format: 'JSONEachRow' })
    traces[`ClickHouse ${table}`] = Number((await result.json<{ n: string }>())[0]?.n)
  }
  return Object.entries(traces)
    .filter(([, count]) => count !== 0)
    .map(([place, count]) => `${count} traces of an erased person are left in ${place}`)
}
