/** The charts of boards. Each shows the answer of an analytics endpoint, or a saved query of the SQL page. */
import type { Static } from '@sinclair/typebox'
import type { Permission } from '../../../../accounts/rights.ts'
import { BOARD_LIMITS, type BoardChart, type ChartKind } from '../../../../analytics/boards/board.ts'
import type { ReadRows } from '../../../../analytics/read-rows.ts'
import { PAGE_PATHS } from '../../../../dashboard/src/page-paths.ts'
import { type Issue, RequestError } from '../../../../errors.ts'
import { addDays, dayAt } from '../../../../rules/boards/mail-week.ts'
import { faultOf, moveFault } from '../../../../rules/faults.ts'
import { listQueries } from '../../../../analytics/sql-page/saved-queries.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, RequestContext } from '../../../app-context.ts'
import { invalidRequest, uncleanIssues } from '../../../http/check-body.ts'
import { analyticsEndpoints } from '../../analytics/endpoints.ts'
import type { BusinessEndpoint, ChartSource } from '../../business-endpoint.ts'
import type { ChartBody } from './board-schemas.ts'

const ENDPOINTS: Record<Exclude<ChartKind, 'sql'>, string> = {
  series: '/series',
  funnel: '/funnel',
  retention: '/retention',
  lifecycle: '/lifecycle',
  stages: '/stages',
  revenue: '/revenue',
  cohorts: '/revenue/cohorts',
  attribution: '/attribution',
  web: '/web',
  pages: '/web/pages',
  sources: '/web/sources',
  engagement: '/engagement',
}

const endpoints = new Map(analyticsEndpoints.map((endpoint) => [endpoint.path, endpoint]))

export function endpointOf(kind: keyof typeof ENDPOINTS): BusinessEndpoint & { source: ChartSource } {
  const endpoint = endpoints.get(`/analytics${ENDPOINTS[kind]}`)
  if (endpoint?.source === undefined) throw new Error(`no endpoint reads charts of the kind ${kind}`)
  return { ...endpoint, source: endpoint.source }
}

/** Returns a context for reading a chart without a request. `now`: epoch ms. */
export const contextOf = (query: Record<string, string>, now: number): RequestContext =>
  ({
    request: new Request(`http://board/?${new URLSearchParams(query).toString()}`),
    receivedAt: now,
  }) as RequestContext

/** Returns the parameters of a chart at an instant: a relative time range becomes the day on which it begins. */
export const parametersAt = (
  { query, days }: Pick<BoardChart, 'query' | 'days'>,
  now: number,
  timezone: string,
): Record<string, string> => (days === null ? query : { ...query, from: addDays(dayAt(now, timezone), 1 - days) })

/**
 * Returns the chart to store. Its parameters are checked as its endpoint checks them. Throws RequestError:
 * `invalid_request`, with the path in the body; `not_permitted` for a chart that the person may not see.
 */
export async function requireChart(
  app: AppContext,
  principal: Principal,
  { title, kind, query, days, page, size }: Static<typeof ChartBody>,
  now: number,
): Promise<Omit<BoardChart, 'id'>> {
  const issues = [...uncleanIssues({ title, page }), ...sizeIssues(query), ...pageIssues(page)]
  if (kind !== 'sql') issues.push(...nameIssues(kind, query, days))
  else if (days !== undefined) issues.push(faultOf('days', 'no_time_range_of_query'))
  if (issues.length > 0) throw invalidRequest(issues)
  const chart = { title, kind, query, days: days ?? null, page, size }
  const needs =
    kind === 'sql'
      ? await needsOfQuery(app, principal, query)
      : await needsOf(app, principal, { kind, query: parametersAt(chart, now, principal.business.timezone) }, now)
  if (!principal.can(needs)) throw new RequestError('not_permitted')
  return { ...chart, needs }
}

function sizeIssues(query: Record<string, string>): Issue[] {
  const texts = Object.entries(query).flat()
  if (texts.reduce((sum, text) => sum + text.length, 0) <= BOARD_LIMITS.query) return []
  return [faultOf('query', 'characters_up_to', { max: BOARD_LIMITS.query })]
}

const BUSINESS = '/dashboard/b/$businessId/'
const PATHS = new Set<string>(
  PAGE_PATHS.filter((path) => path.startsWith(BUSINESS)).map((path) => path.slice(BUSINESS.length)),
)

/**
 * The page becomes a link, which must lead to a page of the business. It must contain no spaces, control characters or
 * fragment, so that the link in the text of a mail ends with it.
 */
const pageIssues = (page: string): Issue[] =>
  PATHS.has(page.split('?')[0] ?? '') && !/[#\s\p{C}]/u.test(page) ? [] : [faultOf('page', 'page_of_business')]

function nameIssues(kind: keyof typeof ENDPOINTS, query: Record<string, string>, days: number | undefined): Issue[] {
  const known = Object.keys(endpointOf(kind).operation.query ?? {})
  const unknown = Object.keys(query).filter((name) => !known.includes(name))
  const twice = days === undefined ? [] : ['from', 'to'].filter((name) => name in query)
  return [
    ...unknown.slice(0, 20).map((name) => faultOf(`query.${name.slice(0, 64)}`, 'no_parameter')),
    ...twice.map((name) => faultOf(`query.${name}`, 'beside_days')),
    ...(days !== undefined && !known.includes('from') ? [faultOf('days', 'no_time_range_of_chart')] : []),
  ]
}

/** Thrown in place of a read, when all checks before it have passed. */
class Checked extends Error {
  override name = 'Checked'
}
const refuseToRead: ReadRows = () => Promise.reject(new Checked())

/** Returns the permission that a person needs to see the chart. Throws RequestError `invalid_request`. */
async function needsOf(
  app: AppContext,
  principal: Principal,
  { kind, query }: { kind: keyof typeof ENDPOINTS; query: Record<string, string> },
  now: number,
): Promise<BoardChart['needs']> {
  const { source } = endpointOf(kind)
  const check = async (can: Principal['can']): Promise<RequestError | null> => {
    try {
      await source.read(app, contextOf(query, now), { ...principal, can }, refuseToRead)
    } catch (error) {
      if (error instanceof RequestError) return error
      if (!(error instanceof Checked)) throw error
    }
    return null
  }
  const fault = await check((permission: Permission) => permission === 'lists:read')
  if (fault === null) return 'lists:read'
  if (fault.code === 'not_permitted') return 'contacts:read'
  throw invalidRequest((fault.issues ?? []).map((issue) => moveFault(issue, `query.${issue.path}`)))
}

async function needsOfQuery(
  { sql }: AppContext,
  { business }: Principal,
  query: Record<string, string>,
): Promise<'sql:run'> {
  const isKnown = (await listQueries(sql, business.id)).some(({ id }) => id === query['queryId'])
  if (!isKnown || Object.keys(query).length > 1) throw invalidRequest([faultOf('query.queryId', 'query_id')])
  return 'sql:run'
}
