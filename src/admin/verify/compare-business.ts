import { sleep } from '../../async/sleep.ts'
import { checkPostgres } from './check-postgres.ts'
import { sumClickHouse, sumContactsInClickHouse } from './clickhouse-facts.ts'
import { compareOneByOne, type CompareDeps, type Comparison } from './compare-one-by-one.ts'
import type { Difference } from './difference.ts'
import { type Checksum, type ContactChecksum, GREATEST_ID, LEAST_ID, type Slice, withStatistics } from './facts.ts'
import { countSlice, endOfSlice, sumContactsInPostgres, sumPostgres } from './postgres-facts.ts'
import { isTimeout } from './is-timeout.ts'

/**
 * The number of contacts in a slice. For each slice ClickHouse reads the whole business, because it orders ids differently.
 * So with very many contacts, slices are fewer and larger.
 */
const SLICE = { min: 20_000, max: 100_000, perRound: 50 }
/** The most contacts that are compared although Postgres does not know them. */
const MAX_UNKNOWN = 50_000
/** The pause after each slice is half the time that it took, up to this. */
const MAX_PAUSE_MS = 2000

export const sizeOfSlice = (contacts: number): number =>
  Math.min(SLICE.max, Math.max(SLICE.min, Math.ceil(contacts / SLICE.perRound)))

export interface SliceReport extends Comparison {
  contacts: number
  /** Broken rules within Postgres. */
  broken: Difference[]
}

/** How often the slices of a business are halved. Each try may take up to the time limit of a statement. */
const HALVINGS = 4

/**
 * Compares all contacts of a business, slice by slice: first checksums of many contacts; where these differ, those of each
 * contact; and single facts only where these differ, too. The slices cover every possible id, so contacts that only
 * ClickHouse has are found. A slice that takes too long for a statement is halved, up to `HALVINGS` times; then the error of
 * the store is thrown.
 */
export async function* compareBusiness(
  deps: CompareDeps,
  businessId: string,
  sliceSize: number,
): AsyncGenerator<SliceReport> {
  let size = sliceSize
  let halvings = 0
  for (let after = LEAST_ID; after !== GREATEST_ID && !deps.signal.aborted;) {
    const started = performance.now()
    const upTo = (await endOfSlice(deps.sql, businessId, after, size)) ?? GREATEST_ID
    const slice = { businessId, after, upTo }
    const report = await compareSlice(deps, slice, size).catch((error: unknown) => {
      if (!isTimeout(error) || halvings === HALVINGS) throw error
    })
    if (!report) {
      size = Math.max(1, Math.ceil((await countSlice(deps.sql, slice)) / 2))
      halvings += 1
      continue
    }
    yield report
    after = upTo
    const took = performance.now() - started
    if (after !== GREATEST_ID) await sleep(Math.min(took / 2, MAX_PAUSE_MS), deps.signal)
  }
}

async function compareSlice(deps: CompareDeps, slice: Slice, size: number): Promise<SliceReport> {
  const expected = await sumPostgres(deps.sql, slice)
  const actual = await sumClickHouse(deps.clickhouse, slice)
  const contacts = expected.filter(({ kind }) => kind === 'contact').reduce((sum, { count }) => sum + count, 0)
  const buckets = differingBuckets(expected.flatMap(withStatistics), actual)
  const broken = await checkPostgres(deps.sql, slice)
  if (buckets.length === 0) return { contacts, different: [], unstable: [], broken }
  const ids = differingContacts(
    await sumContactsInPostgres(deps.sql, slice, buckets),
    await sumContactsInClickHouse(deps.clickhouse, slice, buckets, size + MAX_UNKNOWN),
  )
  return { contacts, broken, ...(await compareOneByOne(deps, 'contact', slice.businessId, ids)) }
}

function differingContacts(expected: ContactChecksum[], actual: ContactChecksum[]): string[] {
  const byId = (sums: ContactChecksum[]) => new Map(sums.map(({ id, sum }) => [id, sum]))
  const [inPostgres, inClickHouse] = [byId(expected), byId(actual)]
  const ids = new Set([...inPostgres.keys(), ...inClickHouse.keys()])
  return [...ids].filter((id) => inPostgres.get(id) !== inClickHouse.get(id))
}

function differingBuckets(expected: Checksum[], actual: Checksum[]): string[] {
  const lines = (sums: Checksum[]) =>
    new Map(sums.map(({ kind, bucket, count, sum }) => [`${bucket} ${kind} ${count} ${sum}`, bucket]))
  const [inPostgres, inClickHouse] = [lines(expected), lines(actual)]
  const differing = [...inPostgres, ...inClickHouse].filter(
    ([line]) => !inPostgres.has(line) || !inClickHouse.has(line),
  )
  return [...new Set(differing.map(([, bucket]) => bucket))]
}
