import { pause } from '../../stream/pause.ts'
import { ask } from './clickhouse-facts.ts'
import type { CompareDeps } from './compare-contacts.ts'
import type { Difference } from './difference.ts'

const TRIES = 6
const SIGHTINGS = 2
const PAUSE_MS = 200

interface Totals {
  side: 'held' | 'shown'
  name: string
  total: string
}

/**
 * Whether the views that analysts read add up to what their tables hold. Where they do not, the tables are read once
 * more: if they say what they said, nothing came in while the views were read.
 */
export async function checkViews({ clickhouse, signal }: CompareDeps, businessId: string): Promise<Difference[]> {
  const times = new Map<string, number>()
  for (let look = 0; look < TRIES && !signal.aborted; look += 1) {
    if (look > 0) await pause(PAUSE_MS, signal)
    const totals = await ask<Totals>(clickhouse, `${held(businessId)} union all ${views(businessId)}`)
    const apart = inPairs(totals).filter(({ shown, before }) => shown !== before)
    if (apart.length === 0) return []
    const after = await ask<Totals>(clickhouse, held(businessId))
    const atRest = apart.filter(({ name, before }) => totalOf(after, name, 'held') === before)
    for (const { name } of atRest) times.set(name, (times.get(name) ?? 0) + 1)
    const sure = atRest.filter(({ name }) => (times.get(name) ?? 0) >= SIGHTINGS)
    if (sure.length === apart.length) return sure.map((one) => describe(businessId, one))
  }
  return []
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

const views = (business: string): string => `
  select 'shown' as side, 'timeline' as name, concat(toString(count()), ' events, ', toString(sum(counted_revenue))) as total
  from timeline where business_id = '${business}'
  union all
  select 'shown' as side, 'contact_event_statistics', concat(toString(sum(count)), ' events')
  from contact_event_statistics where business_id = '${business}'
  union all
  select 'shown' as side, 'contacts', concat(toString(count()), ' contacts') from contacts where business_id = '${business}'
  union all
  select 'shown' as side, 'revenue_by_day', toString(arraySort(groupArray((currency, revenue, orders)))) from (
    select currency, toString(sum(revenue)) as revenue, toString(sum(orders)) as orders
    from revenue_by_day where business_id = '${business}' group by currency
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
