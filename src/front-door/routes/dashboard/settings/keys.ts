/** API keys of a business. */
import { type Static, Type } from '@sinclair/typebox'
import { KEY_KINDS, MAX_ACTIVE_KEYS, createKey, listLatestKeys, revokeKey } from '../../../../businesses/keys.ts'
import { RequestError } from '../../../../errors.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { closed, count, dateTime, oneOf, orNull, uuid } from '../../reply-fields.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from '../people/session.ts'

/** All active keys, and the latest revoked ones. */
const MAX_LISTED = 200

async function getKeys(app: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  const keys = (await listLatestKeys(app.sql, business.id, MAX_LISTED)).map(
    ({ keyId, kind, hint, createdAt, revokedAt, lastUsedAt }) => ({
      keyId,
      kind,
      hint,
      createdAt: createdAt.toISOString(),
      revokedAt: revokedAt?.toISOString() ?? null,
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
    }),
  )
  return { message: 'The keys.', data: { keys, maxActive: MAX_ACTIVE_KEYS } }
}

const KeySchema = Type.Object({ kind: oneOf(KEY_KINDS) })
const checkKey = compileCheck(KeySchema)

async function postKey(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const { kind } = requireBody(checkKey(await readJson(app, context, BODY_LIMITS.single)))
  const by = { businessId: business.id, actor }
  const created: Static<typeof CreatedData> = await createKey(app.sql, by, kind)
  return { message: 'The key. It is shown only now.', data: created }
}

async function deleteKey(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const keyId = readId(context.params['keyId'])
  const by = { businessId: business.id, actor }
  if (keyId === null || !(await revokeKey(app.sql, by, keyId))) throw new RequestError('not_found')
  return { message: 'The key is revoked.', data: {} }
}

const KeysData = Type.Object(
  {
    keys: Type.Array(
      Type.Object(
        {
          keyId: uuid,
          kind: oneOf(KEY_KINDS),
          hint: Type.String({ description: 'The last four characters of the key.' }),
          createdAt: dateTime,
          revokedAt: orNull(dateTime),
          lastUsedAt: orNull(dateTime),
        },
        closed,
      ),
    ),
    maxActive: count,
  },
  closed,
)

const CreatedData = Type.Object({ keyId: uuid, key: Type.String() }, closed)

export const keyRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/keys',
    permission: 'lists:read',
    handler: getKeys,
    operation: {
      summary: 'List API keys',
      description: 'The last use is known within a minute or two.',
      tag: 'Settings',
      key: 'session',
      replies: { 200: { message: 'The keys.', description: 'Active ones first, then the newest.', data: KeysData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/keys',
    permission: 'keys:write',
    isDangerous: true,
    handler: postKey,
    operation: {
      summary: 'Create an API key',
      tag: 'Settings',
      key: 'session',
      body: { schema: KeySchema },
      replies: { 200: { message: 'The key. It is shown only now.', description: 'The whole key.', data: CreatedData } },
      errors: [...MEMBER_BODY_ERRORS, 'confirmation_required', 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/keys/:keyId',
    permission: 'keys:write',
    isDangerous: true,
    handler: deleteKey,
    operation: {
      summary: 'Revoke an API key',
      description: 'It is rejected within a second. This cannot be undone.',
      tag: 'Settings',
      key: 'session',
      replies: {
        200: { message: 'The key is revoked.', description: 'Also if it was before.', data: Type.Object({}, closed) },
      },
      errors: [...MEMBER_ERRORS, 'confirmation_required', 'not_found'],
    },
  }),
]
