/** A person's own account: name, password, sessions, second factor. */
import { Type } from '@sinclair/typebox'
import { PASSWORD_LENGTH, PasswordsBusy, hashPassword } from '../../../../accounts/passwords.ts'
import { changeName, changePassword, endOwnSession } from '../../../../accounts/own-account.ts'
import { type Session, listSessions } from '../../../../accounts/sessions.ts'
import { createTotpSecret, matchTotp, totpUri } from '../../../../accounts/totp.ts'
import { confirmTotp, readTotpSecret, startTotp, turnTotpOff } from '../../../../accounts/second-factor.ts'
import { findCredentials } from '../../../../accounts/users.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { openSecret, sealSecret } from '../../../../stores/seal-secret.ts'
import { type DashboardRoute, sessionRoute } from '../../../access/authenticate-session.ts'
import { chargeSignIn } from '../../../access/charge.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { closed, dateTime, uuid } from '../../reply-fields.ts'
import { MeData, SESSION_BODY_ERRORS, SESSION_ERRORS, describeMe, requirePassword, startSession } from './session.ts'

const SAVED = 'Saved.'

const NameSchema = Type.Object({ name: Type.String({ maxLength: 200 }) })
const checkName = compileCheck(NameSchema)

async function putName(app: AppContext, context: RequestContext, { user }: Session): Promise<Reply> {
  const { name } = requireBody(checkName(await readJson(app, context, BODY_LIMITS.single)))
  await changeName(app.sql, user, name)
  return { message: SAVED, data: await describeMe(app, context, { ...user, name }) }
}

const PasswordSchema = Type.Object({
  current: Type.Optional(Type.String({ maxLength: 1000, description: 'Required when the person has a password.' })),
  password: Type.String({ maxLength: 1000 }),
})
const checkPassword = compileCheck(PasswordSchema)

/** Ends all other sessions, and gives this one a new token. */
async function putPassword(app: AppContext, context: RequestContext, { user }: Session): Promise<Reply> {
  const { current = '', password } = requireBody(checkPassword(await readJson(app, context, BODY_LIMITS.single)))
  await chargeSignIn(app, context, user.email)
  if (user.hasPassword) await requireCurrent(app, user.email, current)
  await changePassword(app.sql, user, await newPasswordHash(password))
  return { message: SAVED, data: await startSession(app, context, { ...user, hasPassword: true }) }
}

async function requireCurrent({ sql }: AppContext, email: string, current: string): Promise<void> {
  try {
    await requirePassword(await findCredentials(sql, email), current)
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== 'wrong_credentials') throw error
    throw invalidRequest([faultOf('current', 'wrong_password')])
  }
}

/** Throws RequestError: invalid_request for a password that is too short or too long, unavailable. */
export async function newPasswordHash(password: string): Promise<string> {
  const { min, max } = PASSWORD_LENGTH
  if (password.length < min || password.length > max) {
    throw invalidRequest([faultOf('password', 'characters', { min, max })])
  }
  try {
    return await hashPassword(password)
  } catch (error) {
    if (error instanceof PasswordsBusy) throw new RequestError('unavailable', { headers: { 'Retry-After': '3' } })
    throw error
  }
}

async function getSessions(app: AppContext, _: RequestContext, { id, user }: Session): Promise<Reply> {
  const sessions = (await listSessions(app.sql, user.id)).map((one) => ({
    ...one,
    createdAt: one.createdAt.toISOString(),
    seenAt: one.seenAt.toISOString(),
    isCurrent: one.id === id,
  }))
  return { message: 'Your sessions.', data: { sessions } }
}

async function deleteSession(app: AppContext, context: RequestContext, { user }: Session): Promise<Reply> {
  const id = readId(context.params['sessionId'])
  if (id === null || (await endOwnSession(app.sql, user, id)).kind === 'not_found') throw new RequestError('not_found')
  return { message: 'The session has ended.', data: {} }
}

async function postTotp(app: AppContext, _: RequestContext, { user }: Session): Promise<Reply> {
  const { secretsKey } = app.config
  if (secretsKey === undefined) {
    throw new RequestError('limit_reached', { reason: faultOf('', 'factor_needs_key') })
  }
  if (user.hasTotp) throw new RequestError('limit_reached', { reason: faultOf('', 'has_factor') })
  const secret = createTotpSecret()
  await startTotp(app.sql, user.id, sealSecret({ secret }, user.id, secretsKey))
  return { message: 'Scan the code with your authenticator app.', data: { secret, uri: totpUri(secret, user.email) } }
}

const CodeSchema = Type.Object({ code: Type.String({ maxLength: 40 }) })
const checkCode = compileCheck(CodeSchema)

/** Turns the second factor on. This is the only answer with the recovery codes. */
async function putTotp(app: AppContext, context: RequestContext, { user }: Session): Promise<Reply> {
  const { code } = requireBody(checkCode(await readJson(app, context, BODY_LIMITS.single)))
  await chargeSignIn(app, context, user.email)
  const { secret: sealed, isConfirmed } = await readTotpSecret(app.sql, user.id)
  if (sealed === null || isConfirmed) throw new RequestError('not_found', { reason: faultOf('', 'no_factor') })
  const { secret } = openSecret(sealed, user.id, app.config.secretsKey) as { secret: string }
  const step = matchTotp(secret, code, context.receivedAt)
  if (step === null) throw invalidRequest([faultOf('code', 'wrong_code')])
  const recoveryCodes = await confirmTotp(app.sql, user, { sealed, step })
  if (recoveryCodes === null) throw new RequestError('not_found', { reason: faultOf('', 'no_factor') })
  return { message: 'The second factor is on.', data: { recoveryCodes } }
}

async function deleteTotp(app: AppContext, _: RequestContext, { user }: Session): Promise<Reply> {
  await turnTotpOff(app.sql, user)
  return { message: 'The second factor is off.', data: {} }
}

const done = (message: string) => ({ 200: { message, description: 'Done.', data: Type.Object({}, closed) } })
const meReply = { 200: { message: SAVED, description: 'The person and their businesses.', data: MeData } }

const SessionsData = Type.Object(
  {
    sessions: Type.Array(
      Type.Object(
        {
          id: uuid,
          createdAt: dateTime,
          seenAt: dateTime,
          address: Type.String(),
          userAgent: Type.String(),
          isCurrent: Type.Boolean(),
        },
        closed,
      ),
    ),
  },
  closed,
)

export const accountRoutes: readonly DashboardRoute[] = [
  sessionRoute({
    method: 'PUT',
    path: '/dashboard/api/me',
    handler: putName,
    operation: {
      summary: 'Change your name',
      tag: 'Account',
      key: 'session',
      body: { schema: NameSchema },
      replies: meReply,
      errors: SESSION_BODY_ERRORS,
    },
  }),
  sessionRoute({
    method: 'PUT',
    path: '/dashboard/api/me/password',
    handler: putPassword,
    operation: {
      summary: 'Change your password',
      description: `Ends your other sessions. A password has ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`,
      tag: 'Account',
      key: 'session',
      body: { schema: PasswordSchema },
      replies: meReply,
      errors: SESSION_BODY_ERRORS,
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/dashboard/api/me/sessions',
    handler: getSessions,
    operation: {
      summary: 'List your sessions',
      tag: 'Account',
      key: 'session',
      replies: { 200: { message: 'Your sessions.', description: 'The last used one first.', data: SessionsData } },
      errors: SESSION_ERRORS,
    },
  }),
  sessionRoute({
    method: 'DELETE',
    path: '/dashboard/api/me/sessions/:sessionId',
    handler: deleteSession,
    operation: {
      summary: 'End one of your sessions',
      tag: 'Account',
      key: 'session',
      replies: done('The session has ended.'),
      errors: [...SESSION_ERRORS, 'not_found'],
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/dashboard/api/me/totp',
    isDangerous: true,
    handler: postTotp,
    operation: {
      summary: 'Set up a second factor',
      tag: 'Account',
      key: 'session',
      replies: {
        200: {
          message: 'Scan the code with your authenticator app.',
          description: 'The secret of the authenticator app. It counts once a code of it is confirmed.',
          data: Type.Object({ secret: Type.String(), uri: Type.String() }, closed),
        },
      },
      errors: [...SESSION_ERRORS, 'confirmation_required', 'limit_reached'],
    },
  }),
  sessionRoute({
    method: 'PUT',
    path: '/dashboard/api/me/totp',
    handler: putTotp,
    operation: {
      summary: 'Turn the second factor on',
      tag: 'Account',
      key: 'session',
      body: { schema: CodeSchema },
      replies: {
        200: {
          message: 'The second factor is on.',
          description: 'The recovery codes: each replaces a code of the app once. They are shown only now.',
          data: Type.Object({ recoveryCodes: Type.Array(Type.String()) }, closed),
        },
      },
      errors: [...SESSION_BODY_ERRORS, 'not_found'],
    },
  }),
  sessionRoute({
    method: 'DELETE',
    path: '/dashboard/api/me/totp',
    isDangerous: true,
    handler: deleteTotp,
    operation: {
      summary: 'Turn the second factor off',
      tag: 'Account',
      key: 'session',
      replies: done('The second factor is off.'),
      errors: [...SESSION_ERRORS, 'confirmation_required'],
    },
  }),
]
