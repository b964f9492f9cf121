/**
 * Measures how fast the segment worker settles many contacts whose `within_days` ends in the same second, and the
 * latency of live callers meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { insertSegment } from '../../segments/segments-support.ts'
import type { Bench } from '../bench.ts'
import { type CpuByPart, mapParts, startMeter } from '../cpu-meter.ts'
import { type LiveBeside, type Span, measureLiveBeside } from '../live-beside.ts'
import { untilQuiet } from '../measure.ts'
import { type Observed, observe } from '../observe.ts'
import type { Stack } from '../stack.ts'

const DAYS = 30
const DAY_MS = 86_400_000
const LOOK_MS = 25
const LIMIT_MS = 120_000
/** How long live callers send before the first contact is due. */
const LEAD_S = 3
/** Fewer than are settled in a second beside live callers. */
const SLOW_RATE = 8000

export interface Herd {
  contacts: number
  /** From the first due instant until the last contact is settled. */
  span: Span
  seconds: number
  /** Microseconds per contact, until ClickHouse has the changes. */
  cpu: CpuByPart
  observed: Observed
}

export async function measureHerd(bench: Bench, contacts: number): Promise<Herd> {
  return (await prepareHerd(bench, contacts)).go()
}

/** The live callers are of another business, and have no segments. */
export const measureBesideHerd = (bench: Bench, contacts: number): Promise<LiveBeside<Herd>> =>
  measureLiveBeside(bench, 'beside-herd-', async () => {
    const { dueAt, go } = await prepareHerd(bench, contacts)
    await untilShortlyBefore(dueAt, LEAD_S * 1000)
    return { seconds: LEAD_S + bench.length(4, 12) + contacts / SLOW_RATE, go, spanOf: ({ span }) => span }
  })

/** Returns contacts that are all due soon. `go` waits until then, and resolves when they are settled. */
async function prepareHerd(bench: Bench, contacts: number): Promise<{ dueAt: number; go(): Promise<Herd> }> {
  const { stack } = bench
  const callers = await bench.openCallers({ kind: 'known', prefix: 'herd-', people: contacts })
  const businessId = callers.businessIds[0] ?? ''
  const rule = { event: 'visit', metric: 'last', operator: 'within_days', value: DAYS } as const
  const { no, segmentId } = await insertSegment(stack.own.sql, businessId, rule)
  const dueAt = Math.floor(Date.now() + 6000 + contacts / 5)
  await fillHerd(stack, { businessId, no, contacts, dueAt })
  await untilQuiet(stack)
  return {
    dueAt,
    async go() {
      await untilShortlyBefore(dueAt, 200)
      const observer = observe(stack)
      const readMeter = startMeter(stack)
      await untilEmpty(stack, businessId, no)
      const settledAt = Date.now()
      await untilQuiet(stack)
      const cpu = readMeter()
      await checkHistory(stack, segmentId, contacts)
      const each = mapParts((part) => cpu[part] / contacts)
      const seconds = (settledAt - dueAt) / 1000
      return { contacts, span: [dueAt, settledAt], seconds, cpu: each, observed: await observer.stop() }
    },
  }
}

async function untilShortlyBefore(dueAt: number, ms: number): Promise<void> {
  const left = dueAt - ms - Date.now()
  if (left < 0) throw new Error('Filling took longer than until the first contact was due')
  await sleep(left)
}

/**
 * Creates contacts as live events 30 days ago would have left them. The times of those events are spread over one
 * second.
 */
async function fillHerd(
  { own: { sql } }: Stack,
  { businessId, no, contacts, dueAt }: { businessId: string; no: number; contacts: number; dueAt: number },
): Promise<void> {
  // The due instant is the first millisecond outside the window, so the event is one millisecond more than 30 days
  // older.
  const lastAt = dueAt - DAYS * DAY_MS - 1
  await sql`
    with people as materialized (
      select uuidv7() as id, ${lastAt}::bigint + n % 1000 as last_at from generate_series(0, ${contacts - 1}::int) as n
    ),
    made as (
      insert into contacts (business_id, id, created_at, keyed) select ${businessId}, id, last_at, true from people
    ),
    done as (
      insert into event_statistics (business_id, contact_id, event, first_at, last_at, count)
      select ${businessId}, id, 'visit', last_at, last_at, 1 from people
    ),
    entered as (
      insert into segment_members (business_id, contact_id, segment_no, since, cause)
      select ${businessId}, id, ${no}::bigint, last_at, 'live' from people
    ),
    sized as (
      insert into segment_sizes (business_id, segment_no, members) values (${businessId}, ${no}::bigint, ${contacts}::bigint)
    )
    insert into segment_clock (business_id, contact_id, due_at, settled_at)
    select ${businessId}, id, last_at + ${DAYS * DAY_MS + 1}::bigint, last_at from people`
  for (const table of ['contacts', 'event_statistics', 'segment_members', 'segment_clock'])
    await sql`vacuum (analyze) ${sql(table)}`
}

/** Polls the segment's size, which is cheap: one row per save. */
async function untilEmpty({ own: { sql } }: Stack, businessId: string, no: number): Promise<void> {
  const deadline = Date.now() + LIMIT_MS
  while (Date.now() < deadline) {
    const [row] = await sql<[{ members: number }]>`
      select coalesce(sum(members), 0)::float8 as members from segment_sizes
      where business_id = ${businessId} and segment_no = ${no}`
    if (row.members === 0) return
    await sleep(LOOK_MS)
  }
  throw new Error(`The contacts that are due are not settled after ${LIMIT_MS} ms`)
}

/** Checks that each contact left exactly once: a fast but wrong result is worthless. */
async function checkHistory({ own: { clickhouse } }: Stack, segmentId: string, contacts: number): Promise<void> {
  const result = await clickhouse.query({
    query: `select toString(uniqExact(contact_id)) as left, toString(count()) as changes from segment_changes
      where segment_id = toUUID('${segmentId}') and not entered and cause = 'time'`,
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ left: string; changes: string }>()
  if (Number(row?.left) === contacts && Number(row?.changes) === contacts) return
  throw new Error(`${contacts} contacts were due, and the history has ${row?.changes} changes of ${row?.left} contacts`)
}
