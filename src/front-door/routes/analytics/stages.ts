/** Stages of the customer journey: how many contacts are in each, and how they move. */
import { INTERVALS } from '../../../analytics/buckets.ts'
import { stagesChart } from '../../../analytics/charts/stages-chart.ts'
import { PERIOD_PARAMETERS, chartEndpoint, intervalParameter } from './chart.ts'
import { StagesData } from './schemas.ts'

export const stagesEndpoint = chartEndpoint({
  path: '/stages',
  message: 'The stages.',
  chart: stagesChart,
  operation: {
    summary: 'Read how many contacts are in each stage, and their moves over time',
    description: 'A move counts when the event happened that caused it, also in a backfill.',
    query: { ...PERIOD_PARAMETERS, ...intervalParameter(INTERVALS, 'day') },
  },
  reply: {
    description: 'The stages now, and the moves of the time range.',
    data: StagesData,
    example: {
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-02-02T00:00:00.000Z',
      timezone: 'UTC',
      interval: 'day',
      stages: [
        { stage: 'Awareness', contacts: 20 },
        { stage: 'Consideration', contacts: 8 },
        { stage: 'Decision', contacts: 5 },
        { stage: 'Retention', contacts: 1 },
        { stage: 'Advocacy', contacts: 0 },
      ],
      buckets: ['2026-02-01T00:00:00.000Z'],
      moves: [{ from: 'Awareness', to: 'Consideration', total: 3, points: [3] }],
    },
  },
})
