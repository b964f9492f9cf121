import { type ClickHouseClient, quoteName } from '../../stores/clickhouse.ts'
import { sleep } from '../../async/sleep.ts'
import { ask } from './clickhouse-facts.ts'
import type { CompareDeps } from './compare-one-by-one.ts'
import type { Difference } from './difference.ts'

const TRIES = 6
const SIGHTINGS = 2
const PAUSE_MS = 200

interface Totals {
  side: 'held' | 'shown'
  name: string
  total: string
}

export interface ViewsReport {
  differences: Difference[]
  /** Views whose tables never stood still: nobody knows. */
  unstable: string[]
}

/**
 * Whether the views that analysts read add up to what their tables hold. Where they do not, the tables are read once
 * more: a view may say what they say now, and if they say what they said, nothing came in while the views were read.
 */
export async function checkViews({ clickhouse, signal }: CompareDeps, businessId: string): Promise<ViewsReport> {
  const differences: Difference[] = []
  const times = new Map<string, number>()
  let open: Look[] = []
  for (let look = 0; look < TRIES && !signal.aborted; look += 1) {
    if (look > 0) await sleep(PAUSE_MS, signal)
    const names = look > 0 ? open.map(({ name }) => name) : undefined
    open = (await lookOnce(clickhouse, businessId)).filter(({ name }) => !names || names.includes(name))
    for (const { name } of open.filter(isAtRest)) times.set(name, (times.get(name) ?? 0) + 1)
    const isSure = ({ name }: Look) => (times.get(name) ?? 0) >= SIGHTINGS
    differences.push(...open.filter(isSure).map((one) => describe(businessId, one)))
    open = open.filter((one) => !isSure(one))
    if (open.length === 0) break
  }
  return { differences, unstable: open.map(({ name }) => name) }
}

interface Look extends Pair {
  after: string
}

/** The views that are apart. */
async function lookOnce(clickhouse: ClickHouseClient, businessId: string): Promise<Look[]> {
  const totals = await ask<Totals>(
    clickhouse,
    `${held(businessId)} union all ${views(quoteName(clickhouse.databases.public), businessId)}`,
  )
  const apart = inPairs(totals).filter(({ shown, before }) => shown !== before)
  if (apart.length === 0) return []
  const after = await ask<Totals>(clickhouse, held(businessId))
  return apart.map((pair) => ({ ...pair, after: totalOf(after, pair.name, 'held') })).filter((look) => !agrees(look))
}

const isAtRest = ({ before, after }: Look): boolean => before === after

/** A view that is read between two readings of its tables; events only become more. */
export function agrees({ before, shown, after }: Omit<Look, 'name'>): boolean {
  const [least, count, most] = [before, shown, after].map((total) => Number(/^(\d+) events/.exec(total)?.[1]))
  return shown === after || (least! < count! && count! < most!)
}

interface Pair {
  name: string
  before: string
  shown: string
}

const inPairs = (totals: Totals[]): Pair[] =>
  [...new Set(totals.map(({ name }) => name))].map((name) => ({
    name,
    before: totalOf(totals, name, 'held'),
    shown: totalOf(totals, name, 'shown'),
  }))

const totalOf = (totals: Totals[], name: string, side: Totals['side']): string =>
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

const views = (database: string, business: string): string => `
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

const held = (business: string): string => {
  const lives = `business_id = '${business}' and contact_id not in (
    select contact_id from contact_redirects final where business_id = '${business}' and erased = 1)`
  return `
  select 'held' as side, 'timeline' as name, concat(toString(count()), ' events, ', toString(sum(counted))) as total
  from events where ${lives}
  union all
  select 'held' as side, 'contact_event_statistics', concat(toString(sum(count)), ' events') from event_statistics where ${lives}
  union all
  select 'held' as side, 'contacts', concat(toString(count()), ' contacts')
  from contact_snapshots final where business_id = '${business}' and merged_into is null and erased = 0
  union all
  select 'held' as side, 'revenue_by_day', toString(arraySort(groupArray((currency, revenue, orders)))) from (
    select ifNull(toString(e.currency), '') as currency, toString(sum(counted)) as revenue, toString(sum(is_order)) as orders
    from events as e where ${lives} and (counted != 0 or is_order = 1) group by currency
  )`
}
