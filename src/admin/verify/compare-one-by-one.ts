import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { sleep } from '../../async/sleep.ts'
import { readClickHouse } from './clickhouse-facts.ts'
import { type Fact, type FactKind, type Subject, twice } from './facts.ts'
import { type Known, readPostgres, type Standing } from './postgres-facts.ts'
import { readVisitorsInClickHouse, readVisitorsInPostgres } from './visitor-facts.ts'

export interface CompareDeps {
  /** Reads alone. */
  sql: Sql
  clickhouse: ClickHouseClient
  signal: AbortSignal
  /** What takes its time. */
  say(text: string): void
}

/** A contact or a visitor. */
export interface Compared {
  of: Subject
  businessId: string
  id: string
}

/** The stores say different things of it, for good. */
export interface Different extends Compared {
  isKnown: boolean
  facts: { kind: FactKind; name: string; postgres: string | null; clickhouse: string | null }[]
}

/** It could not be compared. */
export interface Unstable extends Compared {
  /** True: nothing happened to it, and the shipper left it waiting all the time. False: it changed all the time. */
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

/** Ids in one question. */
const BATCH = 5000
/** A difference counts when it was seen so many times, with a pause before each. */
const SIGHTINGS = 3
const LOOKS = 8
const PAUSE_MS = 150

/**
 * Compares these contacts or visitors one by one. Only what is at rest is compared, and a difference must be seen again and
 * again.
 */
export async function compareOneByOne(
  deps: CompareDeps,
  of: Subject,
  businessId: string,
  ids: string[],
): Promise<Comparison> {
  const seen = new Map<string, { times: number; last: Different }>()
  const first = new Map<string, Lines>()
  const last = new Map<string, Lines>()
  let left = ids
  for (let look = 0; look < LOOKS && left.length > 0 && !deps.signal.aborted; look += 1) {
    if (look > 0) await sleep(PAUSE_MS * look, deps.signal)
    const { different, unstable } = await lookAt(deps, of, businessId, left)
    for (const one of different) seen.set(one.id, { times: timesOf(seen, one.id) + 1, last: one })
    for (const [id, lines] of unstable) {
      if (!first.has(id)) first.set(id, lines)
      last.set(id, lines)
    }
    left = [...unstable.keys(), ...different.map(({ id }) => id).filter((id) => timesOf(seen, id) < SIGHTINGS)]
  }
  const sure = [...seen.values()].filter(({ times }) => times >= SIGHTINGS)
  return {
    different: sure.map(({ last }) => last),
    unstable: left.map((id) => ({ of, businessId, id, isStuck: isSame(first.get(id), last.get(id)) })),
  }
}

async function lookAt(deps: CompareDeps, of: Subject, businessId: string, ids: string[]): Promise<Look> {
  const all: Look = { different: [], unstable: new Map() }
  for (let at = 0; at < ids.length && !deps.signal.aborted; at += BATCH) {
    if (ids.length > BATCH) deps.say(`looking at ${ids.length} ${of}s one by one`)
    const { different, unstable } = await lookOnce(deps, of, businessId, ids.slice(at, at + BATCH))
    all.different.push(...different)
    for (const [id, lines] of unstable) all.unstable.set(id, lines)
  }
  return all
}

interface Look {
  different: Different[]
  /** Those that changed meanwhile, or wait for the shipper, as they were. */
  unstable: Map<string, Lines>
}

const timesOf = (seen: Map<string, { times: number }>, id: string): number => seen.get(id)?.times ?? 0

/**
 * Postgres, then ClickHouse, then, of those that are apart, Postgres again. What was not waiting for the shipper at the
 * first reading is in ClickHouse at the second; and when the third says what the first said, nothing was recorded
 * between them (a count never falls, and a merge or a change raises the revision), so that ClickHouse
 * could not know more either. What is apart then is apart. No clock is asked.
 */
async function lookOnce(deps: CompareDeps, of: Subject, businessId: string, ids: string[]): Promise<Look> {
  const read = READERS[of]
  const before = await read.postgres(deps.sql, businessId, ids)
  const held = byId(await read.clickhouse(deps.clickhouse, businessId, ids))
  const expected = byId(before.facts.flatMap(twice))
  const apart = ids.filter((id) => {
    const standing = before.standing.get(id)
    return standing !== 'erased' && !isSame(expected.get(id), held.get(id))
  })
  if (apart.length === 0) return { different: [], unstable: new Map() }
  const after = await read.postgres(deps.sql, businessId, apart)
  const atRest = byId(after.facts.flatMap(twice))
  const isAtRest = (id: string) =>
    before.standing.get(id) !== 'waiting' &&
    isKnown(before, id) === isKnown(after, id) &&
    isSame(expected.get(id), atRest.get(id))
  const different = apart.filter(isAtRest).map((id) => ({
    of,
    businessId,
    id,
    isKnown: isKnown(before, id),
    facts: difference(expected.get(id), held.get(id)),
  }))
  return {
    different,
    unstable: new Map(apart.filter((id) => !isAtRest(id)).map((id) => [id, expected.get(id) ?? NONE])),
  }
}

const KNOWN: Standing[] = ['settled', 'waiting']
const isKnown = ({ standing }: Known, id: string): boolean => KNOWN.includes(standing.get(id) ?? 'unknown')

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

function difference(expected: Lines = NONE, held: Lines = NONE): Different['facts'] {
  const names = new Set([...expected.keys(), ...held.keys()])
  return [...names].flatMap((name) => {
    const [mine, theirs] = [expected.get(name), held.get(name)]
    const fact = mine ?? theirs
    if (!fact || mine?.value === theirs?.value) return []
    return [{ kind: fact.kind, name: fact.name, postgres: mine?.value ?? null, clickhouse: theirs?.value ?? null }]
  })
}
