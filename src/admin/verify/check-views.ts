/** The analysts' views must add up to their tables. */
import { quoteName } from '../../stores/clickhouse.ts'
import { repeatClickHouse } from '../../migrate/migrate.ts'
import type { BusinessKind, CompareDeps } from './kind.ts'
import { confirmDifferences } from './confirm-differences.ts'
import { queryClickHouse } from './query-clickhouse.ts'

const PATIENCE = { sightings: 2, attempts: 6, pauseMs: 100 }

/** The totals of a view, and of its tables before and after it was read. */
interface ViewCheck {
  name: string
  before: string
  shown: string
  after: string
}

export const VIEW: BusinessKind<ViewCheck> = {
  name: 'view',
  part: 'views',
  async *find(deps, businessId) {
    const { confirmed, open } = await confirmDifferences(deps.signal, PATIENCE, async () => {
      // A view may show the present content of its tables. If they have not changed, nothing was added while it was
      // read.
      const wrong = await findWrong(deps, businessId)
      const [same, changed] = [wrong.filter(isUnchanged), wrong.filter((one) => !isUnchanged(one))]
      return { differing: same.map((one) => [one.name, one]), unstable: changed.map(({ name }) => name) }
    })
    const unstable = open.map((name) => ({ what: `view ${name}`, reason: 'its tables changed all the time' }))
    yield { items: confirmed, unstable }
  },
  describe: ({ name, before, shown }) => ({ name, clickhouse: shown, note: `its tables add up to ${before}` }),
  async repair({ clickhouse }) {
    await repeatClickHouse(clickhouse)
    return {}
  },
}

const isUnchanged = ({ before, after }: ViewCheck): boolean => before === after

async function findWrong({ clickhouse }: CompareDeps, businessId: string): Promise<ViewCheck[]> {
  const stored = storedTotals(businessId)
  const shown = shownTotals(quoteName(clickhouse.databases.public), businessId)
  const totals = await queryClickHouse<ViewTotal>(clickhouse, `${stored} union all ${shown}`)
  const names = [...new Set(totals.map(({ name }) => name))]
  const differing = names
    .map((name) => ({ name, before: totalOf(totals, name, 'stored'), shown: totalOf(totals, name, 'shown') }))
    .filter(({ before, shown }) => before !== shown)
  if (differing.length === 0) return []
  const after = await queryClickHouse<ViewTotal>(clickhouse, stored)
  return differing
    .map((view) => ({ ...view, after: totalOf(after, view.name, 'stored') }))
    .filter((view) => !fits(view))
}

/** Returns whether a view that was read between two reads of its tables fits them. The number of events only grows. */
export function fits({ before, shown, after }: Omit<ViewCheck, 'name'>): boolean {
  const [min, count, max] = [before, shown, after].map((total) => Number(/^(\d+) events/.exec(total)?.[1]))
  return shown === after || (min! < count! && count! < max!)
}

interface ViewTotal {
  side: 'stored' | 'shown'
  name: string
  total: string
}

const totalOf = (totals: ViewTotal[], name: string, side: ViewTotal['side']): string =>
  totals.find((one) => one.name === name && one.side === side)?.total ?? 'nothing'

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
