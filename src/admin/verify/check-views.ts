import { type ClickHouseClient, quoteName } from '../../stores/clickhouse.ts'
import { sleep } from '../../async/sleep.ts'
import { queryClickHouse } from './clickhouse-facts.ts'
import type { CompareDeps } from './compare-one-by-one.ts'
import type { Difference } from './difference.ts'

const ATTEMPTS = 6
const SIGHTINGS = 2
const PAUSE_MS = 200

interface ViewTotal {
  side: 'stored' | 'shown'
  name: string
  total: string
}

export interface ViewsReport {
  differences: Difference[]
  /** Views that could not be checked, because their tables changed all the time. */
  unstable: string[]
}

/**
 * Checks that the views that analysts read add up to their tables. Where one does not, the tables are read again: the view
 * may show what they have now, and if they have not changed, nothing came in while the views were read.
 */
export async function checkViews({ clickhouse, signal }: CompareDeps, businessId: string): Promise<ViewsReport> {
  const differences: Difference[] = []
  const times = new Map<string, number>()
  let open: ViewCheck[] = []
  for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt += 1) {
    if (attempt > 0) await sleep(PAUSE_MS, signal)
    const names = attempt > 0 ? open.map(({ name }) => name) : undefined
    open = (await checkOnce(clickhouse, businessId)).filter(({ name }) => !names || names.includes(name))
    for (const { name } of open.filter(isUnchanged)) times.set(name, (times.get(name) ?? 0) + 1)
    const isConfirmed = ({ name }: ViewCheck) => (times.get(name) ?? 0) >= SIGHTINGS
    differences.push(...open.filter(isConfirmed).map((one) => describe(businessId, one)))
    open = open.filter((one) => !isConfirmed(one))
    if (open.length === 0) break
  }
  return { differences, unstable: open.map(({ name }) => name) }
}

interface ViewCheck extends Pair {
  after: string
}

/** The views that do not agree with their tables. */
async function checkOnce(clickhouse: ClickHouseClient, businessId: string): Promise<ViewCheck[]> {
  const totals = await queryClickHouse<ViewTotal>(
    clickhouse,
    `${storedTotals(businessId)} union all ${shownTotals(quoteName(clickhouse.databases.public), businessId)}`,
  )
  const differing = inPairs(totals).filter(({ shown, before }) => shown !== before)
  if (differing.length === 0) return []
  const after = await queryClickHouse<ViewTotal>(clickhouse, storedTotals(businessId))
  return differing
    .map((pair) => ({ ...pair, after: totalOf(after, pair.name, 'stored') }))
    .filter((attempt) => !fits(attempt))
}

const isUnchanged = ({ before, after }: ViewCheck): boolean => before === after

/** Whether a view that was read between two reads of its tables fits them; the number of events only grows. */
export function fits({ before, shown, after }: Omit<ViewCheck, 'name'>): boolean {
  const [min, count, max] = [before, shown, after].map((total) => Number(/^(\d+) events/.exec(total)?.[1]))
  return shown === after || (min! < count! && count! < max!)
}

interface Pair {
  name: string
  before: string
  shown: string
}

const inPairs = (totals: ViewTotal[]): Pair[] =>
  [...new Set(totals.map(({ name }) => name))].map((name) => ({
    name,
    before: totalOf(totals, name, 'stored'),
    shown: totalOf(totals, name, 'shown'),
  }))

const totalOf = (totals: ViewTotal[], name: string, side: ViewTotal['side']): string =>
  totals.find((one) => one.name === name && one.side === side)?.total ?? 'nothing'

const describe = (businessId: string, { name, before, shown }: Pair): Difference => ({
  kind: 'view',
  businessId,
  contactId: null,
  name,
  postgres: null,
  clickhouse: shown,
  note: `its tables add up to ${before}`,
})

const shownTotals = (database: string, business: string): string => `
  select 'shown' as side, 'timeline' as name, concat(toString(count()), ' events, ', toString(sum(counted_revenue))) as total
  from ${database}.timeline where business_id = '${business}'
  union all
  select 'shown' as side, 'contact_event_statistics', concat(toString(sum(count)), ' events')
  from ${database}.contact_event_statistics where business_id = '${business}'
  union all
  select 'shown' as side, 'contacts', concat(toString(count()), ' contacts') from ${database}.contacts where business_id = '${business}'
  union all
  select 'shown' as side, 'revenue_by_day', toString(arraySort(groupArray((currency, revenue, orders)))) from (
    select currency, toString(sum(revenue)) as revenue, toString(sum(orders)) as orders
    from ${database}.revenue_by_day where business_id = '${business}' group by currency
  )`

const storedTotals = (business: string): string => {
  const lives = `business_id = '${business}' and contact_id not in (
    select contact_id from contact_redirects final where business_id = '${business}' and erased = 1)`
  return `
  select 'stored' as side, 'timeline' as name, concat(toString(count()), ' events, ', toString(sum(counted))) as total
  from events where ${lives}
  union all
  select 'stored' as side, 'contact_event_statistics', concat(toString(sum(count)), ' events') from event_statistics where ${lives}
  union all
  select 'stored' as side, 'contacts', concat(toString(count()), ' contacts')
  from contact_snapshots final where business_id = '${business}' and merged_into is null and erased = 0
  union all
  select 'stored' as side, 'revenue_by_day', toString(arraySort(groupArray((currency, revenue, orders)))) from (
    select ifNull(toString(e.currency), '') as currency, toString(sum(counted)) as revenue, toString(sum(is_order)) as orders
    from events as e where ${lives} and (counted != 0 or is_order = 1) group by currency
  )`
}
