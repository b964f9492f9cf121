import { sleep } from '../../async/sleep.ts'
import { checkPostgres } from './check-postgres.ts'
import { sumClickHouse, sumContactsInClickHouse } from './clickhouse-facts.ts'
import { compareOneByOne, type CompareDeps, type Comparison } from './compare-one-by-one.ts'
import type { Difference } from './difference.ts'
import { type Checksum, type ContactChecksum, GREATEST_ID, LEAST_ID, type Slice, twice } from './facts.ts'
import { countSlice, endOfSlice, sumContactsInPostgres, sumPostgres } from './postgres-facts.ts'
import { isTimeout } from './is-timeout.ts'

/**
 * Contacts of one slice. ClickHouse reads a business whole for each, since it orders ids in a way of its own: with very
 * many contacts they are fewer and larger.
 */
const SLICE = { least: 20_000, most: 100_000, perRound: 50 }
/** In ClickHouse there can be more, whom Postgres does not know; of them only some are looked at. */
const MOST_STRANGERS = 50_000
/** After each slice the stores are left alone for half the time that it took, up to this. */
const LONGEST_PAUSE_MS = 2000

export const sizeOfSlice = (contacts: number): number =>
  Math.min(SLICE.most, Math.max(SLICE.least, Math.ceil(contacts / SLICE.perRound)))

export interface SliceReport extends Comparison {
  contacts: number
  /** Rules broken within Postgres. */
  broken: Difference[]
}

/** So often a business is tried with smaller slices. Each try may take as long as a statement may. */
const HALVINGS = 4

/**
 * Compares all contacts of a business, slice by slice: checksums of many contacts first, then of each contact where
 * these differ, and what it is made of only where these differ too. The slices cover every id there could be, so that
 * ClickHouse holds nobody whom Postgres does not know. A slice that takes a statement too long is halved, a few times;
 * then what the store said is thrown.
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
    if (after !== GREATEST_ID) await sleep(Math.min(took / 2, LONGEST_PAUSE_MS), deps.signal)
  }
}

async function compareSlice(deps: CompareDeps, slice: Slice, size: number): Promise<SliceReport> {
  const expected = await sumPostgres(deps.sql, slice)
  const held = await sumClickHouse(deps.clickhouse, slice)
  const contacts = expected.filter(({ kind }) => kind === 'contact').reduce((sum, { count }) => sum + count, 0)
  const buckets = bucketsApart(expected.flatMap(twice), held)
  const broken = await checkPostgres(deps.sql, slice)
  if (buckets.length === 0) return { contacts, different: [], unstable: [], broken }
  const ids = contactsApart(
    await sumContactsInPostgres(deps.sql, slice, buckets),
    await sumContactsInClickHouse(deps.clickhouse, slice, buckets, size + MOST_STRANGERS),
  )
  return { contacts, broken, ...(await compareOneByOne(deps, 'contact', slice.businessId, ids)) }
}

function contactsApart(expected: ContactChecksum[], held: ContactChecksum[]): string[] {
  const [mine, theirs] = [expected, held].map((sums) => new Map(sums.map(({ id, sum }) => [id, sum])))
  const ids = new Set([...(mine?.keys() ?? []), ...(theirs?.keys() ?? [])])
  return [...ids].filter((id) => mine?.get(id) !== theirs?.get(id))
}

function bucketsApart(expected: Checksum[], held: Checksum[]): string[] {
  const lines = (sums: Checksum[]) =>
    new Map(sums.map(({ kind, bucket, count, sum }) => [`${bucket} ${kind} ${count} ${sum}`, bucket]))
  const [mine, theirs] = [lines(expected), lines(held)]
  const apart = [...mine, ...theirs].filter(([line]) => !mine.has(line) || !theirs.has(line))
  return [...new Set(apart.map(([, bucket]) => bucket))]
}
