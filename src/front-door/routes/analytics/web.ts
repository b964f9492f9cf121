/** Web traffic, as captured by browsers. */
import { Type } from '@sinclair/typebox'
import { INTERVALS } from '../../../analytics/buckets.ts'
import { MAX_TOP, liveChart, pagesChart, sourcesChart, trafficChart } from '../../../analytics/charts/web-charts.ts'
import { SOURCE_KEYS } from '../../../analytics/web.ts'
import { closed, count, dateTime, oneOf, orNull } from '../reply-fields.ts'
import { COMPARE_PARAMETER, PERIOD_PARAMETERS, chartEndpoint, intervalParameter } from './chart.ts'

const live = Type.Integer({ minimum: 0, description: 'Browsers with a sign of life in the last 5 minutes.' })
const range = { from: dateTime, to: dateTime, timezone: Type.String() }
const seconds = orNull(Type.Number({ minimum: 0, description: 'Active seconds of a session, on average.' }))
const bounceRate = orNull(Type.Number({ minimum: 0, maximum: 1, description: 'Sessions of one page at most.' }))
const figures = {
  visitors: Type.Integer({ minimum: 0, description: 'Browsers that viewed a page.' }),
  sessions: count,
  pageViews: count,
  bounceRate,
  sessionSeconds: seconds,
  depth: orNull(
    Type.Number({ minimum: 0, maximum: 100, description: 'How far a page view was scrolled, in percent, on average.' }),
  ),
}

export const TrafficData = Type.Object(
  {
    ...range,
    interval: oneOf(INTERVALS),
    buckets: Type.Array(dateTime),
    live,
    ...figures,
    points: Type.Array(Type.Object(figures, closed), { description: 'By interval.' }),
    before: orNull(Type.Object(figures, closed)),
  },
  closed,
)

export const PagesData = Type.Object(
  {
    ...range,
    pages: Type.Array(
      Type.Object(
        {
          page: Type.String({ description: 'Host and path.' }),
          views: count,
          visitors: count,
          seconds: Type.Number({ minimum: 0, description: 'Active seconds of a view, on average.' }),
          depth: Type.Number({
            minimum: 0,
            maximum: 100,
            description: 'How far it was scrolled, in percent, on average.',
          }),
          entries: Type.Integer({ minimum: 0, description: 'Sessions that began there.' }),
          exits: Type.Integer({ minimum: 0, description: 'Sessions that ended there.' }),
        },
        closed,
      ),
      { description: 'Most viewed first.' },
    ),
  },
  closed,
)

export const SourcesData = Type.Object(
  {
    ...range,
    by: oneOf(SOURCE_KEYS),
    sources: Type.Array(
      Type.Object(
        {
          value: orNull(Type.String({ description: 'Null: none.' })),
          sessions: count,
          visitors: count,
          bounceRate,
          sessionSeconds: seconds,
        },
        closed,
      ),
      { description: 'Most sessions first.' },
    ),
  },
  closed,
)

export const TOP = {
  top: { schema: { type: 'integer', minimum: 1, maximum: MAX_TOP, default: 20 }, description: 'The number of rows.' },
}

const example = { from: '2026-02-01T00:00:00.000Z', to: '2026-02-02T00:00:00.000Z', timezone: 'UTC' }
const exampleFigures = {
  visitors: 40,
  sessions: 50,
  pageViews: 120,
  bounceRate: 0.4,
  sessionSeconds: 65.5,
  depth: 62.5,
}

export const trafficEndpoint = chartEndpoint({
  path: '/web',
  message: 'The traffic.',
  chart: trafficChart,
  operation: {
    summary: 'Read visitors, sessions and page views over time',
    query: {
      ...PERIOD_PARAMETERS,
      ...intervalParameter(INTERVALS, 'day'),
      ...COMPARE_PARAMETER,
    },
  },
  reply: {
    description: 'The figures of each interval, and of the whole time range.',
    data: TrafficData,
    example: {
      ...example,
      interval: 'day',
      buckets: [example.from],
      live: 3,
      ...exampleFigures,
      points: [exampleFigures],
      before: null,
    },
  },
})

export const pagesEndpoint = chartEndpoint({
  path: '/web/pages',
  holdsPaths: true,
  message: 'The pages.',
  chart: pagesChart,
  operation: {
    summary: 'Read which pages are viewed, and where sessions begin and end',
    query: { ...PERIOD_PARAMETERS, ...TOP },
  },
  reply: {
    description: 'Most viewed first.',
    data: PagesData,
    example: {
      ...example,
      pages: [
        { page: 'shop.example/pricing', views: 30, visitors: 25, seconds: 40.5, depth: 75, entries: 10, exits: 12 },
      ],
    },
  },
})

export const sourcesEndpoint = chartEndpoint({
  path: '/web/sources',
  message: 'The sources.',
  chart: sourcesChart,
  operation: {
    summary: 'Read what sessions came from',
    query: {
      ...PERIOD_PARAMETERS,
      by: {
        schema: { enum: SOURCE_KEYS, default: 'source' },
        description: '`source`: `utm_source`, or the host of the referrer without it.',
      },
      ...TOP,
    },
  },
  reply: {
    description: 'Most sessions first.',
    data: SourcesData,
    example: {
      ...example,
      by: 'source',
      sources: [{ value: 'google', sessions: 20, visitors: 18, bounceRate: 0.5, sessionSeconds: 30 }],
    },
  },
})

export const liveEndpoint = chartEndpoint({
  path: '/web/live',
  message: 'The visitors.',
  isShared: true,
  chart: liveChart,
  operation: {
    summary: 'Read the number of visitors of this moment',
    description:
      'The same as `live` of `/api/analytics/web`, for callers that ask again and again. The number is up to 6 seconds old.',
  },
  reply: { description: 'The number.', data: Type.Object({ live }, closed), example: { live: 3 } },
})
