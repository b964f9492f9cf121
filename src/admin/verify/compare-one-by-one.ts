import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { sleep } from '../../async/sleep.ts'
import { readClickHouse } from './clickhouse-facts.ts'
import { type Fact, type FactKind, type Subject, withStatistics } from './facts.ts'
import { type PostgresState, readPostgres, type IdStatus } from './postgres-facts.ts'
import { readVisitorsInClickHouse, readVisitorsInPostgres } from './visitor-facts.ts'

export interface CompareDeps {
  /** A read-only connection. */
  sql: Sql
  clickhouse: ClickHouseClient
  signal: AbortSignal
  /** Shows what the command is doing while it takes long. */
  showStatus(text: string): void
}

/** A contact or a visitor. */
export interface Compared {
  subject: Subject
  businessId: string
  id: string
}

/** A contact or visitor that was seen to differ several times. */
export interface Different extends Compared {
  isKnown: boolean
  facts: { kind: FactKind; name: string; postgres: string | null; clickhouse: string | null }[]
}

/** A contact or visitor that could not be compared. */
export interface Unstable extends Compared {
  /** True: it did not change, and waited for the shipper all the time. False: it changed all the time. */
  isStuck: boolean
}

export interface Comparison {
  different: Different[]
  unstable: Unstable[]
}

const READERS = {
  contact: { postgres: readPostgres, clickhouse: readClickHouse },
  visitor: { postgres: readVisitorsInPostgres, clickhouse: readVisitorsInClickHouse },
}

/** Ids per query. */
const BATCH = 5000
/** A difference counts when it was seen this many times, with a pause before each. */
const SIGHTINGS = 3
const ATTEMPTS = 8
const PAUSE_MS = 150

/**
 * Compares these contacts or visitors one by one. Only those that do not change meanwhile are compared, and a difference must
 * be seen `SIGHTINGS` times.
 */
export async function compareOneByOne(
  deps: CompareDeps,
  subject: Subject,
  businessId: string,
  ids: string[],
): Promise<Comparison> {
  const seen = new Map<string, { times: number; last: Different }>()
  const first = new Map<string, Lines>()
  const last = new Map<string, Lines>()
  let left = ids
  for (let attempt = 0; attempt < ATTEMPTS && left.length > 0 && !deps.signal.aborted; attempt += 1) {
    if (attempt > 0) await sleep(PAUSE_MS * attempt, deps.signal)
    const { different, unstable } = await compareBatches(deps, subject, businessId, left)
    for (const one of different) seen.set(one.id, { times: timesOf(seen, one.id) + 1, last: one })
    for (const [id, lines] of unstable) {
      if (!first.has(id)) first.set(id, lines)
      last.set(id, lines)
    }
    left = [...unstable.keys(), ...different.map(({ id }) => id).filter((id) => timesOf(seen, id) < SIGHTINGS)]
  }
  const confirmed = [...seen.values()].filter(({ times }) => times >= SIGHTINGS)
  return {
    different: confirmed.map(({ last }) => last),
    unstable: left.map((id) => ({ subject, businessId, id, isStuck: isSame(first.get(id), last.get(id)) })),
  }
}

async function compareBatches(
  deps: CompareDeps,
  subject: Subject,
  businessId: string,
  ids: string[],
): Promise<Comparisons> {
  const all: Comparisons = { different: [], unstable: new Map() }
  for (let at = 0; at < ids.length && !deps.signal.aborted; at += BATCH) {
    if (ids.length > BATCH) deps.showStatus(`looking at ${ids.length} ${subject}s one by one`)
    const { different, unstable } = await compareBatch(deps, subject, businessId, ids.slice(at, at + BATCH))
    all.different.push(...different)
    for (const [id, lines] of unstable) all.unstable.set(id, lines)
  }
  return all
}

interface Comparisons {
  different: Different[]
  /** Those that changed meanwhile, or wait for the shipper, with their facts at the first read. */
  unstable: Map<string, Lines>
}

const timesOf = (seen: Map<string, { times: number }>, id: string): number => seen.get(id)?.times ?? 0

/**
 * Reads Postgres, then ClickHouse, then, for those that differ, Postgres again. What did not wait for the shipper at the
 * first read is in ClickHouse at the second. If the third read is equal to the first, nothing was recorded between them
 * (a count never falls, and a merge or a change raises the revision), so ClickHouse cannot have more either. A difference is
 * then real. No clock is involved.
 */
async function compareBatch(
  deps: CompareDeps,
  subject: Subject,
  businessId: string,
  ids: string[],
): Promise<Comparisons> {
  const read = READERS[subject]
  const before = await read.postgres(deps.sql, businessId, ids)
  const actual = byId(await read.clickhouse(deps.clickhouse, businessId, ids))
  const expected = byId(before.facts.flatMap(withStatistics))
  const differing = ids.filter((id) => {
    const status = before.status.get(id)
    return status !== 'erased' && !isSame(expected.get(id), actual.get(id))
  })
  if (differing.length === 0) return { different: [], unstable: new Map() }
  const after = await read.postgres(deps.sql, businessId, differing)
  const expectedAfter = byId(after.facts.flatMap(withStatistics))
  const isUnchanged = (id: string) =>
    before.status.get(id) !== 'waiting' &&
    isKnown(before, id) === isKnown(after, id) &&
    isSame(expected.get(id), expectedAfter.get(id))
  const different = differing.filter(isUnchanged).map((id) => ({
    subject,
    businessId,
    id,
    isKnown: isKnown(before, id),
    facts: difference(expected.get(id), actual.get(id)),
  }))
  return {
    different,
    unstable: new Map(differing.filter((id) => !isUnchanged(id)).map((id) => [id, expected.get(id) ?? NONE])),
  }
}

const KNOWN_STATUSES: IdStatus[] = ['settled', 'waiting']
const isKnown = ({ status }: PostgresState, id: string): boolean => KNOWN_STATUSES.includes(status.get(id) ?? 'unknown')

type Lines = Map<string, Fact>

const byId = (facts: Fact[]): Map<string, Lines> =>
  new Map(
    [...Map.groupBy(facts, ({ id }) => id)].map(([id, own]) => [
      id,
      new Map(own.map((fact) => [`${fact.kind} ${fact.name}`, fact])),
    ]),
  )

const NONE: Lines = new Map()

const isSame = (a: Lines = NONE, b: Lines = NONE): boolean => difference(a, b).length === 0

function difference(expected: Lines = NONE, actual: Lines = NONE): Different['facts'] {
  const names = new Set([...expected.keys(), ...actual.keys()])
  return [...names].flatMap((name) => {
    const [postgres, clickhouse] = [expected.get(name), actual.get(name)]
    const fact = postgres ?? clickhouse
    if (!fact || postgres?.value === clickhouse?.value) return []
    const values = { postgres: postgres?.value ?? null, clickhouse: clickhouse?.value ?? null }
    return [{ kind: fact.kind, name: fact.name, ...values }]
  })
}
