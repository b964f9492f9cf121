import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { backlogKey } from '../../../src/stream/keys.ts'
import { allPartitions, partitionOf } from '../../../src/stream/partitions/partition-of.ts'
import { createFaultsBusiness } from '../create-businesses.ts'
import type { Attempt, Sending } from '../ledger.ts'
import { askAdmin } from '../run-admin.ts'
import type { Scenario, Stage } from '../run-scenario.ts'
import { type Business, PARTITIONS, type World } from '../world.ts'

/** Time limit for 99 % of the polite callers, on an idle machine. */
const MOST_MS = 4000
/** On a slower machine, the limit is this multiple of the latency without the hostile tenant. */
const MOST_RATIO = 20
const CALM_FOR_MS = 1500
const HALF_SENT = 20
/** About 150 MB are waiting, and each save contains up to 30 MB, which takes several seconds on a slow machine. */
const DRAINED_MS = 120_000
const POISON = 'poison'
/** Seconds before the save of a poisoned item fails. */
const POISON_SECONDS = 0.1

/**
 * One tenant sends as much as it can of everything that is expensive, and data that cannot be saved. The others do not
 * notice.
 */
export const hostileTenant: Scenario = {
  name: 'a hostile tenant',
  frontDoorStays: true,
  async run(stage) {
    const { world, times, note, check } = stage
    const calm = await measure(stage, CALM_FOR_MS)
    const hostile = await createNeighbour(stage)
    await spoil(world, hostile)
    const flood = startFloods(world.url, hostile)
    const [busy, sent] = await Promise.all([measure(stage, times(6000, 60_000)), flood.until(times(6000, 60_000))])
    const limit = Math.max(MOST_MS, MOST_RATIO * calm.live)
    check(busy.live <= limit, `p99 of live calls was ${busy.live} ms beside a hostile tenant (${calm.live} in calm)`)
    check(busy.refused.length === 0, `neighbours were refused: ${busy.refused[0]}`)
    check(sent.answered > 0, 'nothing of the flood was answered')
    note(
      `p99 beside a hostile tenant: live ${busy.live} ms (${calm.live} in calm), batches ${busy.batches} ms (${calm.batches})`,
    )
    note(`the flood: ${sent.requests} requests, ${sent.answered} events answered, ${sent.failed} set aside`)
    await setAsideTheRest(stage, hostile)
    await checkRecorded(stage, hostile, sent)
    await world.own.sql`drop trigger spoil on contacts`
    await world.own.sql`drop function spoil`
    await world.own.sql`delete from dead_letters where business_id = ${hostile.businessId}`
  },
}

/** Creates a business whose live partition is shared with a polite business. */
async function createNeighbour({ world, businesses }: Stage): Promise<Business> {
  const taken = new Set(businesses.map(({ businessId }) => partitionOf('live', businessId, PARTITIONS)))
  for (;;) {
    const made = await createFaultsBusiness(world.own.sql)
    if (taken.has(partitionOf('live', made.businessId, PARTITIONS))) return made
  }
}

/**
 * Makes some saves of the hostile tenant fail slowly, by a trigger, because no well-formed call can make a save fail.
 */
async function spoil({ own: { sql } }: World, { businessId }: Business): Promise<void> {
  await sql.unsafe(`create function spoil() returns trigger language plpgsql as $$
    begin
      if '${POISON}' = any(new.tags) then
        perform pg_sleep(${POISON_SECONDS});
        raise 'spoilt' using errcode = '23514';
      end if;
      return new;
    end $$`)
  await sql.unsafe(`create trigger spoil before insert or update on contacts
    for each row when (new.business_id = '${businessId}') execute function spoil()`)
}

interface Waited {
  /** p99 latency in milliseconds. */
  live: number
  batches: number
  refused: string[]
}

/** Measures the polite callers, who are in the ledger, from now on. */
async function measure({ ledger }: Stage, ms: number): Promise<Waited> {
  const from = Date.now()
  await sleep(ms)
  const to = Date.now()
  const during = (isWanted: (sending: Sending) => boolean): Attempt[] =>
    ledger.sendings
      .filter(isWanted)
      .flatMap(({ attempts }) => attempts)
      .filter(({ sentAt }) => sentAt >= from && sentAt < to)
  const isBatch = ({ kind }: Sending) => kind === 'batch'
  const isLive = (sending: Sending) => !isBatch(sending)
  return {
    live: p99(during(isLive), to),
    batches: p99(during(isBatch), to),
    refused: during(() => true).flatMap(({ answer }) => (/^[45]/.test(answer) ? [answer] : [])),
  }
}

/** A request without a 200 so far has waited at least until now. A 202 does not count as an answer in time. */
function p99(attempts: Attempt[], now: number): number {
  const waits = attempts.map(({ sentAt, endedAt, outcome }) =>
    outcome === 'queued' ? Math.max(MOST_MS, endedAt - sentAt) + 1 : Math.min(endedAt, now) - sentAt,
  )
  return waits.toSorted((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] ?? 0
}

interface Sent {
  requests: number
  /** Numbers of events: sent, answered with 200, and refused as not applicable. */
  events: number
  answered: number
  failed: number
}

const unique = () => crypto.randomUUID()
const text = (length: number) => unique().padEnd(length, 'x')
const times = <Made>(count: number, make: (at: number) => Made): Made[] =>
  Array.from({ length: count }, (_, at) => make(at))
const email = (name: string) => ({ email: `${name}@hostile.example` })
const traitsOf = (count: number, length: number) =>
  Object.fromEntries(times(count, (at) => [`fat_${at}`, text(length)]))

/** Each returns the events of one request. A single event is sent to `track`. */
const FLOODS: Record<string, () => object[]> = {
  tags: () => times(500, () => ({ event: 'e', identity: email('tags'), tags: times(50, unique) })),
  identities: () => times(500, () => ({ event: 'e', identity: { ...email(unique()), platformCustomerId: 'many' } })),
  people: () => times(500, () => ({ event: 'e', identity: email(unique()) })),
  names: () => times(500, () => ({ event: unique(), identity: email('names') })),
  'fat traits': () =>
    times(100, (at) => ({ event: 'e', identity: email(`fat${at % 10}`), traits: traitsOf(50, 4000) })),
  'cleared traits': () =>
    times(500, () => ({
      event: 'e',
      identity: email('cleared'),
      traits: Object.fromEntries(times(50, () => [`c${unique().replaceAll('-', '')}`, null])),
    })),
  // About 31 MiB.
  largest: () =>
    times(500, () => ({
      event: 'e',
      identity: email(unique()),
      properties: { fat: text(32_000) },
      traits: traitsOf(8, 4000),
    })),
  hot: () => [{ event: 'hot', identity: email('hot'), tags: [unique()], traits: { at: unique() } }],
  'hot too': () => [{ event: 'hot', identity: email('hot'), value: 1, type: 'purchase' }],
  poison: () => [{ event: 'e', identity: email('poisoned'), tags: [POISON] }],
  'poisoned people': () => [{ event: 'e', identity: email(unique()), tags: [POISON] }],
  'poisoned batches': () =>
    times(100, (at) => ({ event: 'e', identity: email(unique()), tags: at % 10 === 0 ? [POISON] : [] })),
}

interface Body {
  body: string
  events: number
}

const bodyOf = (events: object[]): Body => ({
  body: JSON.stringify(events.length > 1 ? { events } : events[0]),
  events: events.length,
})

function startFloods(url: string, { secretKey }: Business) {
  const stopping = new AbortController()
  const sent: Sent = { requests: 0, events: 0, answered: 0, failed: 0 }
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
  const send = async ({ body: json, events }: Body): Promise<void> => {
    const isBatch = events > 1
    sent.requests += 1
    sent.events += events
    const response = await fetch(`${url}/api/sdk/track${isBatch ? '/batch' : ''}`, {
      method: 'POST',
      headers,
      body: json,
      keepalive: false,
    }).catch(() => undefined)
    const body = (await response?.json().catch(() => undefined)) as { data?: { recorded?: number } } | undefined
    if (response?.status === 200) sent.answered += isBatch ? (body?.data?.recorded ?? 0) : 1
    if (response?.status === 500) sent.failed += 1
    // A refused request is sent again after a pause.
    if (response?.status !== 200) await sleep(50)
  }
  const flood = async ([name, make]: [string, () => object[]]): Promise<void> => {
    // Composed only once, because composing the largest request each time would delay the polite callers in this
    // process.
    const largest = name === 'largest' ? bodyOf(make()) : undefined
    while (!stopping.signal.aborted) await send(largest ?? bodyOf(make()))
  }
  const floods = Object.entries(FLOODS).map(flood)
  const halfSent = times(HALF_SENT, () => sendHalf(url, secretKey))
  return {
    async until(ms: number): Promise<Sent> {
      await sleep(ms)
      stopping.abort()
      await Promise.all(floods)
      for (const socket of halfSent) socket.destroy()
      await Promise.all(halfSent.map((socket) => (socket.closed ? Promise.resolve() : once(socket, 'close'))))
      return sent
    },
  }
}

/** Sends a body that never ends. */
function sendHalf(url: string, secretKey: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.on('data', () => undefined)
  const head = [
    'POST /api/sdk/track/batch HTTP/1.1',
    `Host: ${hostname}`,
    `Authorization: Bearer ${secretKey}`,
    'Content-Type: application/json',
    'Content-Length: 30000000',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n{"events":[${'{"event":"e"},'.repeat(1000)}`)
  return socket
}

/** Does what an operator would do: makes the tenant inactive, so that its waiting requests are set aside. */
async function setAsideTheRest({ world, check, note }: Stage, { businessId }: Business): Promise<void> {
  await askAdmin(world, 'business', 'update', businessId, '--active', 'false')
  const began = Date.now()
  while ((await isWaiting(world, businessId)) && Date.now() - began < DRAINED_MS) await sleep(20)
  const took = Date.now() - began
  check(took < DRAINED_MS, `the backlog of an inactive business was there for ${took} ms`)
  note(`its backlog was gone ${took} ms after it was made inactive`)
}

async function isWaiting({ own: { redis } }: World, businessId: string): Promise<boolean> {
  const bytes = allPartitions(PARTITIONS).map((partition) => redis.hget(backlogKey(partition), businessId))
  return (await Promise.all(bytes)).some((one) => one !== null)
}

/** Checks that events answered as recorded are recorded, and none twice. */
async function checkRecorded({ world, check }: Stage, { businessId }: Business, sent: Sent): Promise<void> {
  const [row] = await world.own.sql<[{ recorded: number }]>`
    select coalesce(sum(count), 0)::int as recorded from event_statistics where business_id = ${businessId}`
  const isWell = row.recorded >= sent.answered && row.recorded <= sent.events
  check(isWell, `${row.recorded} of the flood’s ${sent.events} events are recorded, ${sent.answered} were answered`)
}
