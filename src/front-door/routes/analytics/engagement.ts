/** Engagement of contacts, and the contacts whose engagement changed most. */
import { Type } from '@sinclair/typebox'
import { engagementChart, moversChart } from '../../../analytics/charts/engagement-charts.ts'
import { closed, count, dateTime, orNull, uuid } from '../reply-fields.ts'
import { chartEndpoint } from './chart.ts'
import { TOP } from './web.ts'

export const EngagementData = Type.Object(
  {
    contacts: count,
    inactive: Type.Integer({ minimum: 0, description: 'Who did nothing yet, and has no score.' }),
    median: orNull(Type.Number({ minimum: 0 })),
    ranges: Type.Array(
      Type.Object(
        { from: count, to: Type.Integer({ minimum: 0, description: 'Inclusive.' }), contacts: count },
        closed,
      ),
    ),
  },
  closed,
)

const score = Type.Integer({ minimum: 0, maximum: 100 })
const movers = Type.Array(
  Type.Object(
    {
      contactId: uuid,
      score,
      before: Type.Integer({ minimum: 0, maximum: 100, description: 'A week ago.' }),
    },
    closed,
  ),
  { description: 'Greatest change first.' },
)

export const MoversData = Type.Object({ from: dateTime, to: dateTime, risen: movers, fallen: movers }, closed)

export const engagementEndpoint = chartEndpoint({
  path: '/engagement',
  message: 'The engagement.',
  chart: engagementChart,
  operation: {
    summary: 'Read how the engagement scores of contacts are distributed now',
  },
  reply: {
    description: 'Ten ranges of the score.',
    data: EngagementData,
    example: {
      contacts: 100,
      inactive: 20,
      median: 34,
      ranges: Array.from({ length: 10 }, (_, n) => ({ from: n * 10, to: n === 9 ? 100 : n * 10 + 9, contacts: 8 })),
    },
  },
})

export const moversEndpoint = chartEndpoint({
  path: '/engagement/movers',
  message: 'The movers.',
  permission: 'contacts:read',
  chart: moversChart,
  operation: {
    summary: 'Read whose engagement score rose and fell most within the last week',
    description: 'The score of a week ago is that of what had happened already.',
    query: TOP,
  },
  reply: {
    description: 'Those with the greatest changes.',
    data: MoversData,
    example: {
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-02-08T00:00:00.000Z',
      risen: [{ contactId: '01a1faab-47e7-7416-8cea-3a7088ba4c12', score: 64, before: 20 }],
      fallen: [],
    },
  },
})
