import type { Compared, CompareDeps, Different, DifferentFact, Fact, SubjectName } from './kind.ts'
import { SUBJECTS } from './kinds.ts'
import { confirmDifferences } from './confirm-differences.ts'
import { type PostgresState, readClickHouse, readPostgres } from './read-facts.ts'

/** A contact or visitor that could not be compared. */
export interface Unstable extends Compared {
  /** Whether it did not change, but waited for the shipper throughout. Otherwise it kept changing. */
  isStuck: boolean
}

export interface Comparison {
  different: Different[]
  unstable: Unstable[]
}

/** Ids per query. */
const BATCH = 5000
const PATIENCE = { sightings: 3, attempts: 8, pauseMs: 150 }

/** Compares these contacts or visitors one by one. Only those that do not change in the meantime are compared. */
export async function compareOneByOne(
  deps: CompareDeps,
  subject: SubjectName,
  businessId: string,
  ids: string[],
): Promise<Comparison> {
  const first = new Map<string, Lines>()
  const last = new Map<string, Lines>()
  const { confirmed, open } = await confirmDifferences(deps.signal, PATIENCE, async (left = ids) => {
    const all: Batch = { different: [], unstable: new Map() }
    for (let at = 0; at < left.length && !deps.signal.aborted; at += BATCH) {
      if (left.length > BATCH) deps.showStatus(`looking at ${left.length} ${subject}s one by one`)
      const { different, unstable } = await compareBatch(deps, subject, businessId, left.slice(at, at + BATCH))
      all.different.push(...different)
      for (const [id, lines] of unstable) {
        all.unstable.set(id, lines)
        if (!first.has(id)) first.set(id, lines)
        last.set(id, lines)
      }
    }
    return { differing: all.different.map((one) => [one.id, one]), unstable: [...all.unstable.keys()] }
  })
  return {
    different: confirmed,
    unstable: open.map((id) => ({ subject, businessId, id, isStuck: isSame(first.get(id), last.get(id)) })),
  }
}

interface Batch {
  different: Different[]
  /** Those that changed in the meantime, or wait for the shipper, with their facts at the first read. */
  unstable: Map<string, Lines>
}

/**
 * Reads Postgres, then ClickHouse, then, for those that differ, Postgres again. Everything that was not waiting for the
 * shipper at the first read is in ClickHouse at the second. If the third read equals the first, nothing was recorded
 * between them (a count never falls, and a merge or a change increments the revision), so ClickHouse cannot have more
 * either. Then the difference is real. This does not depend on any clock.
 */
async function compareBatch(
  { sql, clickhouse }: CompareDeps,
  name: SubjectName,
  businessId: string,
  ids: string[],
): Promise<Batch> {
  const subject = SUBJECTS[name]
  const before = await readPostgres(sql, subject, businessId, ids)
  const actual = byId(await readClickHouse(clickhouse, subject, businessId, ids))
  const expected = byId(before.facts)
  const differing = ids.filter((id) => before.status.get(id) !== 'erased' && !isSame(expected.get(id), actual.get(id)))
  const batch: Batch = { different: [], unstable: new Map() }
  if (differing.length === 0) return batch
  const after = await readPostgres(sql, subject, businessId, differing)
  const expectedAfter = byId(after.facts)
  for (const id of differing) {
    const isUnchanged =
      before.status.get(id) !== 'waiting' &&
      isKnown(before, id) === isKnown(after, id) &&
      isSame(expected.get(id), expectedAfter.get(id))
    const facts = difference(expected.get(id), actual.get(id))
    if (isUnchanged) batch.different.push({ subject: name, businessId, id, isKnown: isKnown(before, id), facts })
    else batch.unstable.set(id, expected.get(id) ?? NONE)
  }
  return batch
}

const isKnown = ({ status }: PostgresState, id: string): boolean =>
  status.get(id) === 'settled' || status.get(id) === 'waiting'

/** The facts of one contact or visitor, by kind and name. */
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

function difference(expected: Lines = NONE, actual: Lines = NONE): DifferentFact[] {
  const names = new Set([...expected.keys(), ...actual.keys()])
  return [...names].flatMap((name) => {
    const [postgres, clickhouse] = [expected.get(name), actual.get(name)]
    const fact = postgres ?? clickhouse
    if (!fact || postgres?.value === clickhouse?.value) return []
    const values = { postgres: postgres?.value ?? null, clickhouse: clickhouse?.value ?? null }
    return [{ kind: fact.kind, name: fact.name, ...values }]
  })
}
