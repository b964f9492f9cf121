/** Boards: their contents and limits. */

export const CHART_KINDS = [
  'series',
  'funnel',
  'retention',
  'lifecycle',
  'stages',
  'revenue',
  'cohorts',
  'attribution',
  'web',
  'pages',
  'sources',
  'engagement',
  'sql',
] as const
export type ChartKind = (typeof CHART_KINDS)[number]

export const CHART_SIZES = ['half', 'full'] as const

export const BOARD_LIMITS = {
  /** Per business. */
  boards: 100,
  /** Per board. */
  charts: 20,
  name: 100,
  title: 100,
  parameters: 20,
  /** Names and values of all parameters of a chart, in characters. */
  query: 4000,
  page: 4000,
  days: 3650,
  /** Number of people who get the mail. */
  recipients: 50,
} as const

export interface BoardChart {
  id: string
  title: string
  kind: ChartKind
  /** Parameters of the chart's endpoint, checked when it was saved. For `sql`: `queryId`, the id of a saved query. */
  query: Record<string, string>
  /** The time range: this number of days up to now. Null: it is in `query`, or there is none. */
  days: number | null
  /** The page on which the chart was made, with its query string, after `/dashboard/b/ID/`. */
  page: string
  size: (typeof CHART_SIZES)[number]
  /** The permission that a person needs to see it. */
  needs: 'lists:read' | 'contacts:read' | 'sql:run'
}

export interface Board {
  id: string
  name: string
  version: number
  charts: BoardChart[]
  isWeekly: boolean
  /** Ids of users who get the mail. */
  recipients: string[]
}

export interface ListedBoard extends Pick<Board, 'id' | 'name' | 'version' | 'isWeekly'> {
  chartCount: number
}
