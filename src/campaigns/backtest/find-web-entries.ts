/** Finds the page views that triggered in the period of a backtest, for persons who were known in the browser then. */
import { showCount } from '../../rules/limits.ts'
import { type SeenPage, WEB_TRIGGERS, type WebTrigger, compileWebTrigger } from '../../rules/campaigns/web-trigger.ts'
import { HIT_KINDS, type HitKind } from '../../rules/visitors/web-facts.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type AskDeps, askClickHouse } from './ask-clickhouse.ts'
import { BacktestError } from './backtest-error.ts'
import type { FoundEntry } from './found-entry.ts'
import { holderOf, loadHolders } from './load-holders.ts'
import type { Plan } from './plan-backtest.ts'

/** Maximum number of hits of identified browsers that are compared with the conditions. */
const MAX_HITS = 200_000

interface Hit {
  visitorId: string
  pageId: string
  url: string
  depth: number
  activeMs: number
  at: number
  receivedAt: number
}

/** In the order of receipt. A page view enters at most once; `once` identifies it. */
export async function findWebEntries(
  deps: AskDeps & { sql: Sql },
  plan: Plan,
  trigger: WebTrigger,
): Promise<FoundEntry[]> {
  const kind = HIT_KINDS.find((one) => WEB_TRIGGERS[one] === trigger.web) ?? 'page_view'
  const fits = compileWebTrigger(trigger)
  const active = new Map<string, number>()
  const fired = (await readHits(deps, plan, kind)).filter((hit) => {
    const page = `${hit.visitorId}\0${hit.pageId}`
    const activeMs = (active.get(page) ?? 0) + hit.activeMs
    if (kind === 'time') active.set(page, activeMs)
    return fits(seenPage(kind, hit, activeMs))
  })
  const holders = await loadHolders(deps.sql, plan.business.id, [...new Set(fired.map(({ visitorId }) => visitorId))])
  return fired.flatMap(({ visitorId, pageId, at, receivedAt }) => {
    const holder = holderOf(holders, visitorId, at)
    if (!holder || holder.contactId === null || holder.identifiedAt > at) return []
    const { contactId } = holder
    return [{ contactId, enrolledAt: Math.min(at, receivedAt), receivedAt, once: `${visitorId}\0${pageId}` }]
  })
}

async function readHits(deps: AskDeps, { business, from, to }: Plan, kind: HitKind): Promise<Hit[]> {
  const rows = await askClickHouse<Hit>(
    deps,
    `
      select visitor_id as visitorId, page_id as pageId, url, depth, active_ms as activeMs, occurred_ms as at,
        received_ms as receivedAt
      from web_events final
      where business_id = {business: UUID} and kind = {kind: String}
        and received_ms >= {from: Int64} and received_ms < {to: Int64}
        and visitor_id in (select visitor_id from visitor_links where business_id = {business: UUID})
      order by received_ms, hit_id
      limit {limit: UInt32}`,
    { business: business.id, kind, from, to, limit: MAX_HITS + 1 },
  )
  if (rows.length <= MAX_HITS) return rows
  throw new BacktestError(
    `More than ${showCount(MAX_HITS)} hits of identified browsers are to be looked at. Choose a shorter time.`,
  )
}

/** The hit as the front door sees it. */
function seenPage(kind: HitKind, { url, depth }: Hit, activeMs: number): SeenPage {
  const { pathname: path = '', host = '' } = URL.canParse(url) ? new URL(url) : {}
  if (kind === 'scroll') return { path, host, depth }
  return kind === 'time' ? { path, host, seconds: activeMs / 1000 } : { path, host }
}
