/**
 * Destinations of conversions: owners add, change, test and remove them. No answer contains a secret, except for a key
 * that was just made.
 */
import { type Static, Type } from '@sinclair/typebox'
import { changeDestination, createDestination } from '../../../../deliveries/change-destination.ts'
import {
  type SealedDestination,
  findDestination,
  listDestinations,
  removeDestination,
} from '../../../../deliveries/destinations.ts'
import { DESTINATION_KINDS, SettingsError } from '../../../../deliveries/settings.ts'
import { lacksTestCode, testDestination } from '../../../../deliveries/test-destination.ts'
import { RequestError } from '../../../../errors.ts'
import { CONVERSION_TYPES } from '../../../../rules/events/facts.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { SealError } from '../../../../stores/seal-secret.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { closed, dateTime, oneOf, orNull, uuid } from '../../reply-fields.ts'
import {
  ChangeSchema,
  NewSchema,
  checkChange,
  checkNew,
  issuesOf,
  readChange,
  readNewDestination,
} from './read-destination.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from '../people/session.ts'

const DESTINATIONS = 'The destinations.'
const ADDED = 'The destination is added.'
const CHANGED = 'The destination is changed.'
const REMOVED = 'The destination is removed.'
const REMOVING = 'Some of its conversions are left. Send the request again.'
const TESTED = 'The destination is tested.'
/** Shorter than the time after which the server closes an idle connection. */
const TEST_MS = 10_000
const REMOVE_MS = 5000

const DestinationsData = Type.Object(
  {
    destinations: Type.Array(
      Type.Object(
        {
          id: uuid,
          kind: oneOf(DESTINATION_KINDS),
          name: Type.String(),
          types: Type.Array(oneOf(CONVERSION_TYPES)),
          active: Type.Boolean(),
          createdAt: dateTime,
          settings: orNull(
            Type.Record(Type.String(), Type.Unknown(), {
              description:
                'Without the secret. Null for who may not change destinations: an address can contain a token.',
            }),
          ),
        },
        closed,
      ),
    ),
    hasSecretsKey: Type.Boolean({ description: 'Without SECRETS_KEY, no destination can be added.' }),
  },
  closed,
)

async function getDestinations(app: AppContext, _: RequestContext, { business, can }: Principal): Promise<Reply> {
  const found = await listDestinations(app.sql, business.id)
  const data: Static<typeof DestinationsData> = {
    destinations: found.map(({ id, kind, name, types, active, createdAt, settings }) => ({
      id,
      kind,
      name,
      types,
      active,
      createdAt: createdAt.toISOString(),
      settings: can('destinations:write') ? settings : null,
    })),
    hasSecretsKey: app.config.secretsKey !== undefined,
  }
  return { message: DESTINATIONS, data }
}

async function postDestination(app: AppContext, context: RequestContext, { business, actor }: Principal) {
  const sent = requireBody(checkNew(await readJson(app, context, BODY_LIMITS.single)))
  const secretsKey = requireSecretsKey(app)
  const { signingKey, ...destination } = await readNewDestination(sent, app.guard)
  const by = { businessId: business.id, actor }
  const destinationId = await createDestination(app.sql, by, destination, secretsKey)
  return { message: ADDED, data: { destinationId, signingKey } satisfies Static<typeof AddedData> }
}

const signingKeyData = orNull(Type.String({ description: 'Of a webhook, if it was just made. It is shown only now.' }))
const AddedData = Type.Object({ destinationId: uuid, signingKey: signingKeyData }, closed)

async function patchDestination(app: AppContext, context: RequestContext, { business, actor }: Principal) {
  const sent = requireBody(checkChange(await readJson(app, context, BODY_LIMITS.single)))
  const found = await requireDestination(app, context, business.id)
  const { wanted, parts, signingKey } = await readChange(found, sent)
  const secret = parts && { secret: { parts, secretsKey: requireSecretsKey(app) } }
  const isChanged = await withRequestErrors(() => changeDestination(app, actor, found, { ...wanted, ...secret }))
  if (!isChanged) throw destinationNotFound()
  return { message: CHANGED, data: { signingKey } satisfies Static<typeof ChangedData> }
}

const ChangedData = Type.Object({ signingKey: signingKeyData }, closed)

/**
 * Removes a destination. A business can have millions of conversions, so the caller repeats the request for what is
 * left after REMOVE_MS.
 */
async function deleteDestination(app: AppContext, context: RequestContext, { business, actor }: Principal) {
  const found = await requireDestination(app, context, business.id)
  const isRemoved = await removeDestination(app.sql, actor, found, { signal: AbortSignal.timeout(REMOVE_MS) })
  return { message: isRemoved ? REMOVED : REMOVING, data: { isRemoved } satisfies Static<typeof RemovedData> }
}

const RemovedData = Type.Object({ isRemoved: Type.Boolean() }, closed)

async function postTest(app: AppContext, context: RequestContext, { business }: Principal) {
  const found = await requireDestination(app, context, business.id)
  if (lacksTestCode(found))
    throw invalidRequest([{ ...faultOf('testEventCode', 'test_code'), path: 'settings.testEventCode' }])
  const { guard, config } = app
  const result = await withRequestErrors(() =>
    testDestination(found, { guard, secretsKey: config.secretsKey, timeoutMs: TEST_MS }),
  )
  const data: Static<typeof TestedData> =
    result.kind === 'sent' ? { isAccepted: true, reason: null } : { isAccepted: false, reason: result.reason }
  return { message: TESTED, data }
}

const TestedData = Type.Object(
  { isAccepted: Type.Boolean(), reason: orNull(Type.String({ description: 'Why it was not accepted.' })) },
  closed,
)

/** Answers a destination of another business as if it did not exist. */
async function requireDestination(
  { sql }: AppContext,
  { params }: RequestContext,
  businessId: string,
): Promise<SealedDestination> {
  const id = readId(params['destinationId'])
  const found = id === null ? undefined : await findDestination(sql, id)
  if (found?.businessId !== businessId) throw destinationNotFound()
  return found
}

const destinationNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_destination') })

function requireSecretsKey({ config }: AppContext): string {
  if (config.secretsKey === undefined) throw new RequestError('secrets_key')
  return config.secretsKey
}

const OTHER_KEY =
  'SECRETS_KEY is missing, or is not the one that the secret was encrypted with. Ask your operator, or enter the secret again.'

async function withRequestErrors<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof SettingsError) throw invalidRequest(issuesOf(error))
    if (error instanceof SealError) throw new RequestError('secrets_key', { message: OTHER_KEY })
    throw error
  }
}

const common = { tag: 'Settings', key: 'session' } as const

export const destinationRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/destinations',
    permission: 'lists:read',
    handler: getDestinations,
    operation: {
      ...common,
      summary: 'List the destinations of conversions',
      replies: { 200: { message: DESTINATIONS, description: 'Oldest first.', data: DestinationsData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/destinations',
    permission: 'destinations:write',
    isDangerous: true,
    handler: postDestination,
    operation: {
      ...common,
      summary: 'Add a destination',
      body: { schema: NewSchema },
      replies: { 200: { message: ADDED, description: 'Its id.', data: AddedData } },
      errors: [...MEMBER_BODY_ERRORS, 'confirmation_required', 'limit_reached', 'secrets_key'],
    },
  }),
  businessRoute({
    method: 'PATCH',
    path: '/destinations/:destinationId',
    permission: 'destinations:write',
    isDangerous: true,
    handler: patchDestination,
    operation: {
      ...common,
      summary: 'Change, pause or resume a destination',
      description: 'Changes only what you send, from the next event on.',
      body: { schema: ChangeSchema },
      replies: { 200: { message: CHANGED, description: 'Done.', data: ChangedData } },
      errors: [...MEMBER_BODY_ERRORS, 'confirmation_required', 'not_found', 'secrets_key'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/destinations/:destinationId',
    permission: 'destinations:write',
    isDangerous: true,
    handler: deleteDestination,
    operation: {
      ...common,
      summary: 'Remove a destination, with its queued conversions and its history',
      description:
        'From this moment on nothing is sent to it. While `isRemoved` is false, some of its conversions are left: send the request again. This cannot be undone.',
      replies: { 200: { message: REMOVED, description: 'Whether all of it is removed.', data: RemovedData } },
      errors: [...MEMBER_ERRORS, 'confirmation_required', 'not_found'],
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/destinations/:destinationId/test',
    permission: 'destinations:write',
    cost: 'costly',
    handler: postTest,
    operation: {
      ...common,
      summary: 'Send a made-up conversion, which is counted nowhere',
      replies: { 200: { message: TESTED, description: 'The outcome.', data: TestedData } },
      errors: [...MEMBER_ERRORS, 'invalid_request', 'not_found', 'secrets_key'],
    },
  }),
]
