/**
 * Comparisons of the stores, for operators. They are started here, run in the background, and are shown while they run
 * and afterwards.
 */
import { type Static, Type } from '@sinclair/typebox'
import type { Session } from '../../../../accounts/sessions.ts'
import type { Actor } from '../../../../audit/audit.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { type VerifyRun, beginRun, readRuns, stopRun } from '../../../../verify-runs/verify-runs.ts'
import { type DashboardRoute, sessionRoute } from '../../../access/authenticate-session.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { closed, count, dateTime, orNull, uuid } from '../../reply-fields.ts'
import { SESSION_ERRORS } from '../people/session.ts'

const RUNS = 'The comparisons of the stores.'
const STARTED = 'The stores are being compared.'
const STOPPING = 'The comparison is being stopped.'

const RunsData = Type.Object(
  {
    running: orNull(
      Type.Object(
        {
          startedBy: Type.String(),
          startedAt: dateTime,
          contacts: Type.Integer({ description: 'Those compared so far.' }),
          totalContacts: count,
          activity: Type.String({ description: 'What takes long now; empty while contacts are compared.' }),
          isStopping: Type.Boolean(),
        },
        closed,
      ),
    ),
    last: orNull(
      Type.Object(
        {
          startedBy: Type.String(),
          startedAt: dateTime,
          endedAt: dateTime,
          agree: orNull(Type.Boolean({ description: 'Null when not everything could be compared.' })),
          reason: orNull(Type.String({ description: 'Why nothing could be compared.' })),
          businesses: count,
          contacts: count,
          visitors: count,
          notCompared: Type.Integer({ description: 'Contacts and visitors that changed all the time.' }),
          uncompared: Type.Integer({ description: 'Parts of businesses that could not be compared.' }),
          found: Type.Array(Type.Object({ kind: Type.String(), count }, closed), {
            description: 'The differences by kind, most first.',
          }),
        },
        closed,
      ),
    ),
  },
  closed,
)

async function getRuns({ sql }: AppContext): Promise<Reply> {
  const { running, last } = await readRuns(sql)
  const data: Static<typeof RunsData> = {
    running: running && describeRunning(running),
    last: last && describeEnded(last),
  }
  return { message: RUNS, data }
}

const describeRunning = ({ startedBy, startedAt, contacts, totalContacts, activity, isStopping }: VerifyRun) => ({
  startedBy,
  startedAt: startedAt.toISOString(),
  contacts,
  totalContacts,
  activity,
  isStopping,
})

function describeEnded({ startedBy, startedAt, endedAt, result }: VerifyRun) {
  if (endedAt === null || result === null) return null
  const { found, ...summary } = result
  return {
    startedBy,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
    ...summary,
    found: Object.entries(found)
      .map(([kind, many]) => ({ kind, count: many }))
      .toSorted((a, b) => b.count - a.count),
  }
}

/** Answers `locked` while another comparison runs. */
async function postStart(app: AppContext, _: RequestContext, { user }: Session): Promise<Reply> {
  const runId = await beginRun(app.sql, actorOf(user))
  if (runId === null) throw new RequestError('locked', { reason: faultOf('', 'compared_already') })
  app.verifier.start(runId)
  return { message: STARTED, data: { runId } }
}

async function postStop(app: AppContext, _: RequestContext, { user }: Session): Promise<Reply> {
  const stopped = await stopRun(app.sql, actorOf(user))
  if (stopped === null) throw new RequestError('not_found', { reason: faultOf('', 'not_compared') })
  return { message: STOPPING, data: {} }
}

const actorOf = ({ id, email }: Session['user']): Actor => ({ kind: 'user', id, name: email })

const common = { tag: 'Operation', key: 'session' } as const

export const verifyRoutes: readonly DashboardRoute[] = [
  sessionRoute({
    method: 'GET',
    path: '/dashboard/api/operations/verify',
    permission: 'operations',
    handler: getRuns,
    operation: {
      ...common,
      summary: 'Read how the stores compare',
      replies: { 200: { message: RUNS, description: 'The one that runs, and the last result.', data: RunsData } },
      errors: [...SESSION_ERRORS, 'not_permitted'],
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/dashboard/api/operations/verify',
    permission: 'operations',
    handler: postStart,
    operation: {
      ...common,
      summary: 'Compare the stores',
      description: 'In the background, and only by reading. One comparison runs at a time.',
      replies: { 200: { message: STARTED, description: 'It has begun.', data: Type.Object({ runId: uuid }, closed) } },
      errors: [...SESSION_ERRORS, 'not_permitted', 'locked'],
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/dashboard/api/operations/verify/stop',
    permission: 'operations',
    handler: postStop,
    operation: {
      ...common,
      summary: 'Stop comparing the stores',
      replies: { 200: { message: STOPPING, description: 'Within seconds.', data: Type.Object({}, closed) } },
      errors: [...SESSION_ERRORS, 'not_permitted', 'not_found'],
    },
  }),
]
