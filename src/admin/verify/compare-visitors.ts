import { compareOneByOne, type CompareDeps, type Comparison } from './compare-one-by-one.ts'
import { type VisitorPage, readVisitorIds, readVisitorPage, readVisitorsInPostgres } from './visitor-facts.ts'

/** Visitors in one question, at most. */
const PAGE = 5000
/** In ClickHouse there can be more, whom Postgres does not know; of them only some are looked at. */
const MOST_STRANGERS = 50_000

/**
 * Compares all visitors of a business, page by page, and one by one those that look different. The pages cover every id
 * there could be. Yields with the number of those that Postgres knows.
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
    const apart = await findApart(deps, page, ids)
    yield { visitors: ids.length, ...(await compareOneByOne(deps, 'visitor', businessId, apart)) }
    after = page.upTo ?? after
  }
}

async function findApart(deps: CompareDeps, page: VisitorPage, ids: string[]): Promise<string[]> {
  const { facts } = await readVisitorsInPostgres(deps.sql, page.businessId, ids)
  const held = await readVisitorPage(deps.clickhouse, page, ids.length + MOST_STRANGERS)
  const [mine, theirs] = [facts, held].map((all) => new Map(all.map(({ id, value }) => [id, value])))
  return [...new Set([...ids, ...held.map(({ id }) => id)])].filter((id) => mine?.get(id) !== theirs?.get(id))
}
