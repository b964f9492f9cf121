/** Series: events over time. */
import { INTERVALS } from '../../../analytics/buckets.ts'
import { MAX_FORMULA, MAX_TOP, seriesChart } from '../../../analytics/charts/series-chart.ts'
import { COMPARE_PARAMETER, PERIOD_PARAMETERS, chartEndpoint, intervalParameter } from './chart.ts'
import { SeriesData } from './schemas.ts'

export const seriesEndpoint = chartEndpoint({
  path: '/series',
  message: 'The series.',
  chart: seriesChart,
  operation: {
    summary: 'Read events over time',
    description:
      'Up to two series, each with the events that you name: their number, the contacts who did them, their revenue in one ' +
      'currency, or the sum of a numeric property. What merged contacts did counts for the survivor; erased people are left out.',
    query: {
      series: {
        schema: { type: 'string', default: '[{"measure":"count"}]' },
        description:
          'JSON: a list of 1 or 2 objects with `measure` (count, contacts, revenue or sum), `events` (at most 10 names; all events ' +
          'when left out), `where` (as in rules of segments), `property` (of a sum), `currency` (of revenue; when left out, that of ' +
          'the business).',
      },
      ...PERIOD_PARAMETERS,
      ...intervalParameter(INTERVALS, 'day'),
      breakdown: {
        schema: { type: 'string' },
        description:
          'event, source, stage, country, segment, `field:` and the key of a custom field, or `property:` and the path of a ' +
          'property. Stage, country, fields and segments are those of the contact now. A contact can be in several segments.',
      },
      top: {
        schema: { type: 'integer', minimum: 1, maximum: MAX_TOP, default: 10 },
        description: 'The number of values that get a row; the others share one.',
      },
      ...COMPARE_PARAMETER,
      formula: {
        schema: { type: 'string', maxLength: MAX_FORMULA },
        description: 'Arithmetic on the two series, `a` and `b`, such as `100 * b / a`.',
      },
    },
  },
  reply: {
    description: 'The figures of each interval, and of the whole time range.',
    data: SeriesData,
    example: {
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-02-03T00:00:00.000Z',
      timezone: 'UTC',
      interval: 'day',
      buckets: ['2026-02-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z'],
      series: [
        {
          currency: null,
          total: 3,
          points: [1, 2],
          rows: [{ value: 'signup', label: null, isOther: false, total: 3, points: [1, 2] }],
          before: null,
        },
      ],
      formula: null,
      comparedWith: null,
    },
  },
})
