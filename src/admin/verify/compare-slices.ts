import { sleep } from '../../async/sleep.ts'
import { compareOneByOne, type Comparison } from './compare-one-by-one.ts'
import type { CompareDeps, Difference, Slice, SubjectName } from './kind.ts'
import { SUBJECTS } from './kinds.ts'
import { isTimeout } from './query-clickhouse.ts'
import * as facts from './read-facts.ts'

/**
 * Number of contacts, or visitors, in a slice. For each slice of contacts ClickHouse reads the whole business, because
 * it orders ids differently. So with very many contacts, slices are fewer and larger.
 */
const SLICE = { min: 20_000, max: 100_000, perRound: 50 }
/** Maximum number of ids to compare that Postgres does not know. */
const MAX_UNKNOWN = 50_000
/** The pause after each slice is half the time that the slice took, up to this limit in milliseconds. */
const MAX_PAUSE_MS = 2000
/** How often the slices of a business may be halved. Each attempt may take up to the time limit of a statement. */
const HALVINGS = 4

export const sizeOfSlice = (contacts: number): number =>
  Math.min(SLICE.max, Math.max(SLICE.min, Math.ceil(contacts / SLICE.perRound)))

export interface SliceReport extends Comparison {
  /** Number of contacts or visitors in the slice that Postgres has. */
  known: number
  /** Violated rules within Postgres. */
  broken: Difference[]
}

/**
 * Compares all contacts, or visitors, of a business, slice by slice: first checksums of many; where these differ, the
 * checksum of each one; and single facts only where these differ, too. The slices cover every possible id, so those
 * that only ClickHouse has are found. A slice that takes too long for a statement is halved, up to `HALVINGS` times;
 * then the error of the store is thrown.
 */
export async function* compareSlices(
  deps: CompareDeps,
  subject: SubjectName,
  businessId: string,
  sliceSize: number,
): AsyncGenerator<SliceReport> {
  const { least, greatest } = SUBJECTS[subject]
  let size = sliceSize
  let halvings = 0
  for (let after = least; after !== greatest && !deps.signal.aborted;) {
    const started = performance.now()
    const upTo = await facts.endOfSlice(deps.sql, SUBJECTS[subject], businessId, after, size)
    const slice = { businessId, after, upTo }
    const report = await compareSlice(deps, subject, slice, size).catch((error: unknown) => {
      if (!isTimeout(error) || halvings === HALVINGS) throw error
    })
    if (!report) {
      size = Math.max(1, Math.ceil((await facts.countSlice(deps.sql, SUBJECTS[subject], slice)) / 2))
      halvings += 1
      continue
    }
    yield report
    after = upTo
    const took = performance.now() - started
    if (after !== greatest) await sleep(Math.min(took / 2, MAX_PAUSE_MS), deps.signal)
  }
}

async function compareSlice(
  { sql, clickhouse, ...deps }: CompareDeps,
  name: SubjectName,
  slice: Slice,
  size: number,
): Promise<SliceReport> {
  const subject = SUBJECTS[name]
  const expected = await facts.sumPostgres(sql, subject, slice)
  const actual = await facts.sumClickHouse(clickhouse, subject, slice)
  const known = expected.filter(({ kind }) => kind === name).reduce((sum, { count }) => sum + count, 0)
  const broken = (await subject.checkRules?.(sql, slice)) ?? []
  const lineOf = ({ kind, bucket, count, sum }: facts.Checksum) => `${bucket} ${kind} ${count} ${sum}`
  const buckets = [...new Set(differing(expected, actual, lineOf).map(({ bucket }) => bucket))]
  if (buckets.length === 0) return { known, broken, different: [], unstable: [] }
  const ids = differing(
    await facts.sumEachInPostgres(sql, subject, slice, buckets),
    await facts.sumEachInClickHouse(clickhouse, subject, slice, buckets, size + MAX_UNKNOWN),
    ({ id, sum }) => `${id} ${sum}`,
  ).map(({ id }) => id)
  const comparison = await compareOneByOne({ sql, clickhouse, ...deps }, name, slice.businessId, [...new Set(ids)])
  return { known, broken, ...comparison }
}

/** Returns the items of each list that the other one lacks. */
function differing<Item>(expected: Item[], actual: Item[], textOf: (item: Item) => string): Item[] {
  const [inPostgres, inClickHouse] = [new Set(expected.map(textOf)), new Set(actual.map(textOf))]
  return [
    ...expected.filter((one) => !inClickHouse.has(textOf(one))),
    ...actual.filter((one) => !inPostgres.has(textOf(one))),
  ]
}
