/** Web traffic, as captured by browsers. */
import { Type } from '@sinclair/typebox'
import { INTERVALS } from '../../../analytics/buckets.ts'
import { SOURCE_KEYS, readLiveVisitors, readPages, readSources, readTraffic } from '../../../analytics/web.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { closed, count, dateTime, oneOf, orNull } from '../reply-fields.ts'
import { PERIOD_PARAMETERS, chartEndpoint, intervalParameter, toIso } from './chart.ts'
import {
  MAX_BUCKETS,
  type Parameters,
  readBuckets,
  readCalendar,
  readChoice,
  readParameters,
  readPeriod,
  readWhole,
} from './read-parameters.ts'
import { bucketsBefore } from './series.ts'

const MAX_TOP = 100
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

function readRange(parameters: Parameters) {
  const calendar = readCalendar(parameters, INTERVALS, 'day')
  const buckets = readBuckets(parameters, readPeriod(parameters), calendar, MAX_BUCKETS)
  const isCompared = readChoice(parameters, 'compare', ['true', 'false'], 'false') === 'true'
  return buckets && { calendar, buckets, earlier: isCompared ? bucketsBefore(buckets, calendar) : null }
}

export const readTop = (parameters: Parameters) => readWhole(parameters, 'top', { most: MAX_TOP, otherwise: 20 })
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

const trafficEndpoint = chartEndpoint({
  path: '/web',
  message: 'The traffic.',
  async read(_, context, principal, reader) {
    const { calendar, buckets, earlier } = readParameters(context, principal, readRange)
    const businessId = principal.business.id
    const found = await readTraffic(reader, businessId, buckets)
    const before = earlier && (await readTraffic(reader, businessId, earlier))
    return {
      from: toIso(buckets.from),
      to: toIso(buckets.to),
      ...calendar,
      buckets: buckets.starts.map(toIso),
      live: await readLiveVisitors(reader, businessId, context.receivedAt),
      ...found,
      before: before && withoutPoints(before),
    }
  },
  operation: {
    summary: 'Read visitors, sessions and page views over time',
    query: {
      ...PERIOD_PARAMETERS,
      ...intervalParameter(INTERVALS, 'day'),
      compare: { schema: { enum: ['true', 'false'], default: 'false' }, description: 'Also read the period before.' },
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

function withoutPoints<Figures extends { points: unknown }>({ points: _, ...figuresOf }: Figures) {
  return figuresOf
}

const pagesEndpoint = chartEndpoint({
  path: '/web/pages',
  holdsPaths: true,
  message: 'The pages.',
  async read(_, context, principal, reader) {
    const { period, top } = readParameters(context, principal, (parameters) => {
      const top = readTop(parameters)
      const period = readPeriod(parameters)
      return period && { period, top }
    })
    const { id, timezone } = principal.business
    const pages = await readPages(reader, id, period, top)
    return { from: toIso(period.from), to: toIso(period.to), timezone, pages }
  },
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

const sourcesEndpoint = chartEndpoint({
  path: '/web/sources',
  message: 'The sources.',
  async read(_, context, principal, reader) {
    const { period, by, top } = readParameters(context, principal, (parameters) => {
      const by = readChoice(parameters, 'by', SOURCE_KEYS, 'source')
      const top = readTop(parameters)
      const period = readPeriod(parameters)
      return period && { period, by, top }
    })
    const { id, timezone } = principal.business
    const sources = await readSources(reader, id, { ...period, by, top })
    return { from: toIso(period.from), to: toIso(period.to), timezone, by, sources }
  },
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

const liveEndpoint = chartEndpoint({
  path: '/web/live',
  message: 'The visitors.',
  limits: { ms: 2000, bytes: 128 * 1024 ** 2 },
  isShared: true,
  read: async (_, context, principal, reader) => ({
    live: await readLiveVisitors(reader, principal.business.id, context.receivedAt),
  }),
  operation: {
    summary: 'Read the number of visitors of this moment',
    description:
      'The same as `live` of `/api/analytics/web`, for callers that ask again and again. The number is up to 6 seconds old.',
  },
  reply: { description: 'The number.', data: Type.Object({ live }, closed), example: { live: 3 } },
})

export const webEndpoints: readonly BusinessEndpoint[] = [trafficEndpoint, pagesEndpoint, sourcesEndpoint, liveEndpoint]
