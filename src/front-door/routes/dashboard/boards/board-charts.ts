/** The charts of boards. Each shows the answer of an analytics endpoint, or a saved query of the SQL page. */
import type { Static } from '@sinclair/typebox'
import { BOARD_LIMITS, type BoardChart } from '../../../../analytics/boards/board.ts'
import type { Computation } from '../../../../analytics/charts/chart.ts'
import { CHARTS, type ComputedKind } from '../../../../analytics/charts/charts.ts'
import { type SentParameters, checkParameters } from '../../../../analytics/charts/parameters.ts'
import { PAGE_PATHS } from '../../../../dashboard/src/pages.ts'
import { type Issue, RequestError } from '../../../../errors.ts'
import { addDays, dayAt } from '../../../../rules/boards/mail-week.ts'
import { faultOf, moveFault } from '../../../../rules/faults.ts'
import { listQueries } from '../../../../analytics/sql-page/saved-queries.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext } from '../../../app-context.ts'
import { invalidRequest, uncleanIssues } from '../../../http/check-body.ts'
import { BOARD_ENDPOINTS } from '../../analytics/endpoints.ts'
import type { ChartBody } from './board-schemas.ts'

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
  const { business } = principal
  const chart = { title, kind, query, days: days ?? null, page, size }
  const needs =
    kind === 'sql'
      ? await needsOfQuery(app, principal, query)
      : needsOf(kind, parametersAt(chart, now, business.timezone), { business, now })
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

function nameIssues(kind: ComputedKind, query: Record<string, string>, days: number | undefined): Issue[] {
  const known = Object.keys(BOARD_ENDPOINTS[kind].operation.query ?? {})
  const unknown = Object.keys(query).filter((name) => !known.includes(name))
  const twice = days === undefined ? [] : ['from', 'to'].filter((name) => name in query)
  return [
    ...unknown.slice(0, 20).map((name) => faultOf(`query.${name.slice(0, 64)}`, 'no_parameter')),
    ...twice.map((name) => faultOf(`query.${name}`, 'beside_days')),
    ...(days !== undefined && !known.includes('from') ? [faultOf('days', 'no_time_range_of_chart')] : []),
  ]
}

/** Returns the permission that a person needs to see the chart. Throws RequestError `invalid_request`. */
function needsOf(
  kind: ComputedKind,
  query: Record<string, string>,
  { business, now }: Pick<SentParameters, 'business' | 'now'>,
): BoardChart['needs'] {
  const checked = checkParameters<Computation<object>>(
    { query: new URLSearchParams(query), now, business },
    CHARTS[kind],
  )
  if ('faults' in checked) throw invalidRequest(checked.faults.map((issue) => moveFault(issue, `query.${issue.path}`)))
  return checked.showsValues ? 'contacts:read' : 'lists:read'
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
