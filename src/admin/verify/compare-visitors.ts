import { compareOneByOne, type CompareDeps, type Comparison } from './compare-one-by-one.ts'
import type { Fact } from './facts.ts'
import { type VisitorPage, readVisitorIds, readVisitorPage, readVisitorsInPostgres } from './visitor-facts.ts'

/** The most visitors per query. */
const PAGE = 5000
/** The most visitors that are compared although Postgres does not know them. */
const MAX_UNKNOWN = 50_000

/**
 * Compares all visitors of a business, page by page, and those that seem to differ one by one. The pages cover every
 * possible id. `visitors` is the number of those that Postgres knows.
 */
export async function* compareVisitors(
  deps: CompareDeps,
  businessId: string,
  pageSize: number,
): AsyncGenerator<Comparison & { visitors: number }> {
  const size = Math.min(pageSize, PAGE)
  let after = ''
  for (let isLast = false; !isLast && !deps.signal.aborted;) {
    const ids = await readVisitorIds(deps.sql, businessId, after, size)
    isLast = ids.length < size
    const page = { businessId, after, upTo: isLast ? undefined : ids.at(-1) }
    const differing = await findDiffering(deps, page, ids)
    yield { visitors: ids.length, ...(await compareOneByOne(deps, 'visitor', businessId, differing)) }
    after = page.upTo ?? after
  }
}

async function findDiffering(deps: CompareDeps, page: VisitorPage, ids: string[]): Promise<string[]> {
  const { facts } = await readVisitorsInPostgres(deps.sql, page.businessId, ids)
  const actual = await readVisitorPage(deps.clickhouse, page, ids.length + MAX_UNKNOWN)
  const byId = (all: Fact[]) => new Map(all.map(({ id, value }) => [id, value]))
  const [inPostgres, inClickHouse] = [byId(facts), byId(actual)]
  return [...new Set([...ids, ...inClickHouse.keys()])].filter((id) => inPostgres.get(id) !== inClickHouse.get(id))
}
