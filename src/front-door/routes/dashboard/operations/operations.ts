/** The whole installation, for operators: partitions, workers, stores and dead letters. */
import { type Static, Type } from '@sinclair/typebox'
import type { Session } from '../../../../accounts/sessions.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { STORES } from '../../../../rules/lateness.ts'
import { type DeadLetterChange, listDeadLetters, replayDeadLetters } from '../../../../stream/dead-letter.ts'
import { readHolders } from '../../../../stream/leases/lease.ts'
import { readPartitionMap } from '../../../../stream/partitions/partition-map.ts'
import { dropDeadLetters } from '../../../../timeline/resync/drop-dead-letters.ts'
import { readOutboxLag } from '../../../../timeline/shipping/observe-outbox.ts'
import { VERSION } from '../../../../version.ts'
import { type DashboardRoute, sessionRoute } from '../../../access/authenticate-session.ts'
import { queryStore } from '../../../access/query-store.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { readBacklogs } from '../../../health/read-backlogs.ts'
import { compileCheck, invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { closed, count, dateTime, oneOf, orNull, uuid } from '../../reply-fields.ts'
import { SESSION_BODY_ERRORS, SESSION_ERRORS } from '../people/session.ts'

const STATUS = 'The status of the installation.'
const LETTERS = 'The dead letters.'
const REPLAYED = 'The requests were sent to the workers again.'
const DROPPED = 'The dead letters are deleted.'
const MAX_LISTED = 200
const MAX_CHANGED = 50

const InstallationData = Type.Object(
  {
    version: Type.String(),
    isReady: Type.Boolean({ description: 'Whether requests are accepted and applied.' }),
    blocking: Type.Array(Type.String(), { description: 'Why they are not.' }),
    degraded: Type.Array(Type.String(), { description: 'What else is wrong.' }),
    partitions: orNull(
      Type.Object(
        {
          ofEachKind: count,
          changingTo: orNull(count),
          list: Type.Array(
            Type.Object(
              {
                partition: Type.String(),
                worker: orNull(Type.String({ description: 'Null when no worker reads it.' })),
                position: Type.String({ description: 'The stream id up to which everything is applied.' }),
                backlogBytes: orNull(count),
                backlogSeconds: orNull(Type.Number({ description: 'Age of the oldest request that waits.' })),
              },
              closed,
            ),
          ),
        },
        { ...closed, description: 'Null when Postgres does not answer. The backlog is null when Redis does not.' },
      ),
    ),
    outbox: orNull(
      Type.Object(
        { rows: count, seconds: Type.Number() },
        { ...closed, description: 'Changes that ClickHouse does not have yet, and the age of the oldest.' },
      ),
    ),
    stores: Type.Array(
      Type.Object(
        {
          store: oneOf(STORES),
          latencyMs: orNull(
            Type.Number({ description: 'Of a statement that does nothing. Null when it did not answer.' }),
          ),
          bytes: orNull(Type.Number({ description: 'Of Redis in memory, of the others on the disk.' })),
          lateSince: orNull({ ...dateTime, description: 'Since when it answers too late; null when it does not.' }),
        },
        closed,
      ),
    ),
    disks: Type.Array(Type.Object({ store: oneOf(STORES), freeBytes: Type.Number(), isLow: Type.Boolean() }, closed), {
      description: 'Of the stores that run in DATA_DIR.',
    }),
  },
  closed,
)

async function getInstallation(app: AppContext): Promise<Reply> {
  const [{ blocking, degraded }, partitions, outbox, stores, disks] = await Promise.all([
    app.readReadiness(),
    nullOnFailure(() => readPartitions(app)),
    nullOnFailure(() => readOutboxLag(app.sql)),
    app.measureStores(),
    app.readDisks(),
  ])
  const data: Static<typeof InstallationData> = {
    version: VERSION,
    isReady: blocking.length === 0,
    blocking,
    degraded,
    partitions,
    outbox: outbox && { rows: outbox.rows, seconds: Math.max(0, outbox.seconds) },
    stores: stores.map((one) => ({ ...one, lateSince: isoOrNull(app.storeWatch.lateSince(one.store)) })),
    disks,
  }
  return { message: STATUS, data }
}

const isoOrNull = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

async function readPartitions(app: AppContext) {
  const [map, holders, backlogs] = await Promise.all([
    readPartitionMap(app.sql),
    readHolders(app.sql),
    nullOnFailure(() => readBacklogs(app)),
  ])
  const backlogOf = new Map(backlogs?.map((backlog) => [backlog.partition, backlog]))
  return {
    ofEachKind: map.partitions,
    changingTo: map.change?.to ?? null,
    list: holders.map(({ partition, owner }) => {
      const backlog = backlogOf.get(partition)
      return {
        partition,
        worker: owner,
        position: map.positions.get(partition) ?? '',
        backlogBytes: backlog?.bytes ?? null,
        backlogSeconds: backlog === undefined ? null : backlog.ageMs / 1000,
      }
    }),
  }
}

const nullOnFailure = <T>(read: () => Promise<T>): Promise<T | null> => queryStore(read).catch(() => null)

const LettersData = Type.Object(
  {
    deadLetters: Type.Array(
      Type.Object(
        {
          id: uuid,
          businessId: orNull(uuid),
          kind: Type.String(),
          reason: Type.String(),
          partition: Type.String(),
          receivedAt: orNull(dateTime),
          createdAt: dateTime,
        },
        closed,
      ),
    ),
    isTruncated: Type.Boolean({ description: `There are more: these are the oldest ${MAX_LISTED}.` }),
  },
  closed,
)

/** Lists dead letters without the requests themselves, which are personal data. */
async function getDeadLetters({ sql }: AppContext): Promise<Reply> {
  const found = await listDeadLetters(sql, { limit: MAX_LISTED + 1 })
  const data: Static<typeof LettersData> = {
    deadLetters: found
      .slice(0, MAX_LISTED)
      .map(({ id, businessId, kind, reason, partition, receivedAt, createdAt }) => ({
        id,
        businessId,
        kind,
        reason,
        partition,
        receivedAt: receivedAt === null ? null : new Date(receivedAt).toISOString(),
        createdAt: createdAt.toISOString(),
      })),
    isTruncated: found.length > MAX_LISTED,
  }
  return { message: LETTERS, data }
}

const IdsSchema = Type.Object({
  deadLetterIds: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: MAX_CHANGED }),
})
const checkIds = compileCheck(IdsSchema)

async function readIds(app: AppContext, context: RequestContext): Promise<string[]> {
  const { deadLetterIds } = requireBody(checkIds(await readJson(app, context, BODY_LIMITS.single)))
  return deadLetterIds.map((sent, index) => {
    const id = readId(sent)
    if (id === null) throw invalidRequest([faultOf(`deadLetterIds.${index}`, 'dead_letter_id')])
    return id
  })
}

const OUTCOMES = [
  'applied',
  'queued',
  'failed',
  'unavailable',
  'outcome_unknown',
  'not_found',
  'not_replayable',
] as const
const ReplayedData = Type.Object(
  {
    results: Type.Array(Type.Object({ id: uuid, outcome: oneOf(OUTCOMES), reason: orNull(Type.String()) }, closed), {
      description: 'In the order of the ids. Applied ones have left the list.',
    }),
  },
  closed,
)

async function postReplay(app: AppContext, context: RequestContext, session: Session): Promise<Reply> {
  const ids = await readIds(app, context)
  const deps = { sql: app.sql, submit: app.submitter.submit }
  const results: Static<typeof ReplayedData>['results'] = []
  for await (const { id, ...read } of replayDeadLetters(deps, changeOf(session, ids), ids))
    results.push({ id, outcome: read.outcome, reason: 'reason' in read ? read.reason : null })
  return { message: REPLAYED, data: { results } }
}

async function postDrop(app: AppContext, context: RequestContext, session: Session): Promise<Reply> {
  const ids = await readIds(app, context)
  const dropped = await dropDeadLetters(app.sql, changeOf(session, ids), ids)
  return { message: DROPPED, data: { dropped } }
}

const changeOf = ({ user }: Session, ids: string[]): DeadLetterChange => ({
  businessId: null,
  actor: { kind: 'user', id: user.id, name: user.email },
  target: ids.length === 1 ? (ids[0] ?? null) : null,
  details: { deadLetters: ids.length },
})

const common = { tag: 'Operation', key: 'session' } as const

export const operationsRoutes: readonly DashboardRoute[] = [
  sessionRoute({
    method: 'GET',
    path: '/dashboard/api/operations/installation',
    permission: 'operations',
    handler: getInstallation,
    operation: {
      ...common,
      summary: 'Read the partitions, the workers and the stores',
      replies: { 200: { message: STATUS, description: 'As it is now.', data: InstallationData } },
      errors: [...SESSION_ERRORS, 'not_permitted'],
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/dashboard/api/operations/dead-letters',
    permission: 'operations',
    handler: getDeadLetters,
    operation: {
      ...common,
      summary: 'List the requests that could not be applied',
      replies: { 200: { message: LETTERS, description: 'Oldest first.', data: LettersData } },
      errors: [...SESSION_ERRORS, 'not_permitted'],
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/dashboard/api/operations/dead-letters/replay',
    permission: 'operations',
    handler: postReplay,
    operation: {
      ...common,
      summary: 'Send dead letters to the workers again',
      description: 'Two replays of one dead letter count once.',
      body: { schema: IdsSchema },
      replies: { 200: { message: REPLAYED, description: 'What became of each.', data: ReplayedData } },
      errors: [...SESSION_BODY_ERRORS, 'not_permitted'],
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/dashboard/api/operations/dead-letters/drop',
    permission: 'operations',
    isDangerous: true,
    handler: postDrop,
    operation: {
      ...common,
      summary: 'Delete dead letters permanently',
      body: { schema: IdsSchema },
      replies: {
        200: {
          message: DROPPED,
          description: 'Those that existed.',
          data: Type.Object({ dropped: Type.Array(uuid) }, closed),
        },
      },
      errors: [...SESSION_BODY_ERRORS, 'not_permitted', 'confirmation_required'],
    },
  }),
]
