/**
 * Comparisons of the stores, for operators. They are started here, run in the background, and are shown while they run
 * and afterwards.
 */
import { type Static, Type } from '@sinclair/typebox'
import { recordAudit } from '../../../audit/audit.ts'
import type { Session } from '../../../accounts/sessions.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import { type DashboardRoute, sessionRoute } from '../../access/authenticate-session.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { type VerifyRun, beginRun, readRuns, stopRun } from '../../verify/verify-runs.ts'
import { closed, count, dateTime, orNull, uuid } from '../reply-fields.ts'
import { SESSION_ERRORS } from './session.ts'
import { inTransaction } from '../../../stores/transaction.ts'

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

/** The database allows one run at a time: when two people start one, the second gets `locked`. */
async function postStart(app: AppContext, _: RequestContext, { user }: Session): Promise<Reply> {
  const runId = await inTransaction(app.sql, async (tx) => {
    const id = await beginRun(tx, user.email)
    if (id === null) throw new RequestError('locked', { reason: faultOf('', 'compared_already') })
    await recordAudit(tx, entryOf(user, 'stores.verify', id))
    return id
  })
  app.verifier.start(runId)
  return { message: STARTED, data: { runId } }
}

async function postStop(app: AppContext, _: RequestContext, { user }: Session): Promise<Reply> {
  await inTransaction(app.sql, async (tx) => {
    const id = await stopRun(tx)
    if (id === null) throw new RequestError('not_found', { reason: faultOf('', 'not_compared') })
    await recordAudit(tx, entryOf(user, 'stores.verify-stop', id))
  })
  return { message: STOPPING, data: {} }
}

const entryOf = ({ id, email }: Session['user'], action: string, target: string) => ({
  businessId: null,
  actor: { kind: 'user', id, name: email } as const,
  action,
  target,
})

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
