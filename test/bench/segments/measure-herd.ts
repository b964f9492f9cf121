/** Measures how fast the segment worker settles many contacts whose `within_days` ends in the same second. */
import { setTimeout as sleep } from 'node:timers/promises'
import { insertSegment } from '../../segments/segments-support.ts'
import type { Bench } from '../bench.ts'
import { untilQuiet } from '../measure.ts'
import { type Observed, observe } from '../observe.ts'
import { readCpu } from '../process-tree.ts'
import { PARTS, type Part, type Stack } from '../stack.ts'

const DAYS = 30
const DAY_MS = 86_400_000
const LOOK_MS = 25
const LIMIT_MS = 120_000

export interface Herd {
  contacts: number
  /** Seconds from the first due instant until the last contact is settled. */
  seconds: number
  /** Microseconds per contact, until ClickHouse has the changes. */
  cpu: Record<Part, number>
  observed: Observed
}

export async function measureHerd(bench: Bench, contacts: number): Promise<Herd> {
  const { stack } = bench
  const callers = await bench.openCallers({ kind: 'known', prefix: 'herd-', people: contacts })
  const businessId = callers.businessIds[0] ?? ''
  const rule = { event: 'visit', metric: 'last', operator: 'within_days', value: DAYS } as const
  const { no, segmentId } = await insertSegment(stack.own.sql, businessId, rule)
  const dueAt = Date.now() + 4000 + contacts / 5
  await fillHerd(stack, { businessId, no, contacts, dueAt })
  await untilQuiet(stack)
  if (Date.now() >= dueAt) throw new Error('Filling took longer than until the first contact was due')
  await sleep(dueAt - Date.now() - 200)
  const observer = observe(stack)
  const before = readCpu(stack.pids)
  await untilEmpty(stack, businessId, no)
  const seconds = (Date.now() - dueAt) / 1000
  await untilQuiet(stack)
  const after = readCpu(stack.pids)
  await checkHistory(stack, segmentId, contacts)
  const cpu = mapParts((part) => (after[part] - before[part]) / contacts)
  return { contacts, seconds, cpu, observed: await observer.stop() }
}

const mapParts = (of: (part: Part) => number) =>
  Object.fromEntries(PARTS.map((part) => [part, of(part)])) as Record<Part, number>

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
  const lastAt = Math.floor(dueAt) - DAYS * DAY_MS - 1
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
