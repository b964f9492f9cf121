/** The measured charts: each endpoint of /api/analytics with typical parameters. */
export interface Chart {
  name: string
  /** Path of the API, without parameters. */
  path: string
  parameters?: Record<string, string>
  /** Intervals for 90 days and for all time; undefined when the chart has no time. */
  intervals?: readonly [string, string]
  /** Whether there is a goal for the chart. */
  hasGoal?: true
}

const DAYS = ['day', 'week'] as const
const WEEKS = ['week', 'week'] as const
const MONTHS = ['month', 'month'] as const
const ANY = ['', ''] as const
const json = JSON.stringify

const STEPS = json([{ event: 'page_viewed' }, { event: 'add_to_cart' }, { event: 'purchase' }])

export const CHARTS: readonly Chart[] = [
  { name: 'series: events', path: '/series', intervals: DAYS, hasGoal: true },
  {
    name: 'series: unique contacts',
    path: '/series',
    parameters: { series: json([{ measure: 'contacts' }]) },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: contacts of one event',
    path: '/series',
    parameters: { series: json([{ measure: 'contacts', events: ['purchase'] }]) },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: revenue',
    path: '/series',
    parameters: { series: json([{ measure: 'revenue' }]) },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: events by name',
    path: '/series',
    parameters: { breakdown: 'event' },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: contacts by country',
    path: '/series',
    parameters: { series: json([{ measure: 'contacts', events: ['purchase'] }]), breakdown: 'country' },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: purchases by property',
    path: '/series',
    parameters: { series: json([{ measure: 'count', events: ['purchase'] }]), breakdown: 'property:plan' },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: events by stage',
    path: '/series',
    parameters: { breakdown: 'stage' },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: events by country',
    path: '/series',
    parameters: { breakdown: 'country' },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: events by property',
    path: '/series',
    parameters: { breakdown: 'property:plan' },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: events with a condition on a property',
    path: '/series',
    parameters: {
      series: json([{ measure: 'count', where: [{ property: 'position', operator: 'greater_than', value: 25 }] }]),
    },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: sum of a property',
    path: '/series',
    parameters: { series: json([{ measure: 'sum', property: 'position' }]) },
    intervals: DAYS,
    hasGoal: true,
  },
  {
    name: 'series: contacts by name',
    path: '/series',
    parameters: { series: json([{ measure: 'contacts' }]), breakdown: 'event' },
    intervals: DAYS,
    hasGoal: true,
  },
  { name: 'funnel: 3 steps', path: '/funnel', parameters: { steps: STEPS }, intervals: ANY, hasGoal: true },
  {
    name: 'funnel: 3 steps, strict',
    path: '/funnel',
    parameters: { steps: STEPS, order: 'strict' },
    intervals: ANY,
    hasGoal: true,
  },
  {
    name: 'funnel: 3 steps, any order',
    path: '/funnel',
    parameters: { steps: STEPS, order: 'any' },
    intervals: ANY,
    hasGoal: true,
  },
  { name: 'retention: any event', path: '/retention', intervals: WEEKS, hasGoal: true },
  {
    name: 'retention: signup to purchase',
    path: '/retention',
    parameters: { first: json({ event: 'signup' }), returning: json({ event: 'purchase' }) },
    intervals: WEEKS,
    hasGoal: true,
  },
  { name: 'lifecycle', path: '/lifecycle', intervals: WEEKS },
  { name: 'stages', path: '/stages', intervals: DAYS },
  { name: 'revenue', path: '/revenue', intervals: DAYS },
  { name: 'revenue: cohorts', path: '/revenue/cohorts', intervals: MONTHS },
  { name: 'attribution: last touch', path: '/attribution', intervals: ANY },
  { name: 'attribution: linear', path: '/attribution', parameters: { model: 'linear' }, intervals: ANY },
  { name: 'web: traffic', path: '/web', intervals: DAYS },
  { name: 'web: pages', path: '/web/pages', intervals: ANY },
  { name: 'web: sources', path: '/web/sources', intervals: ANY },
  { name: 'engagement', path: '/engagement' },
]

/** Returns the address below /api/analytics. `from` and `to` are dates. */
export function addressOf(chart: Chart, span: 0 | 1, from: string, to: string): string {
  const interval = chart.intervals?.[span] ?? ''
  const query = new URLSearchParams({
    ...chart.parameters,
    ...(chart.intervals && { from, to }),
    ...(interval !== '' && { interval }),
  })
  return `${chart.path}?${query.toString()}`
}
