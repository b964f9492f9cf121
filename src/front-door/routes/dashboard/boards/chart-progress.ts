/** Reports the progress of a chart to the page that waits for it. */
import { Type } from '@sinclair/typebox'
import { readChartProgress } from '../../../../analytics/chart-progress.ts'
import { RequestError } from '../../../../errors.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { readId } from '../../../../rules/read-id.ts'
import { closed, count, orNull } from '../../reply-fields.ts'
import { MEMBER_ERRORS } from '../people/session.ts'

async function getProgress(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const chartId = readId(context.params['chartId'])
  if (chartId === null) throw new RequestError('not_found', { message: 'The id of a chart is a UUID.' })
  return { message: PROGRESS, data: { progress: await readChartProgress(app.clickhouse, business.id, chartId) } }
}

const PROGRESS = 'The progress.'
const ProgressData = Type.Object(
  {
    progress: orNull(
      Type.Object(
        {
          part: Type.Integer({ minimum: 1, description: 'Which of the queries of the chart runs, from 1 on.' }),
          rows: count,
          totalRows: Type.Integer({ minimum: 0, description: 'As far as ClickHouse knows by now: it can grow.' }),
        },
        closed,
      ),
    ),
  },
  closed,
)

export const chartProgressRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/analytics/progress/:chartId',
    permission: 'lists:read',
    handler: getProgress,
    operation: {
      tag: 'Analytics',
      key: 'session',
      summary: 'Read how far a chart is that is being computed',
      description: 'The request of the chart names the id, a UUID, in its header `Sluice-Chart-Id`.',
      replies: {
        200: {
          message: PROGRESS,
          description: 'Null when no query of the chart runs: it waits for others, or it is over.',
          data: ProgressData,
        },
      },
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
]
