/** Signing in and out, and what a person sees afterwards. */
import { Type } from '@sinclair/typebox'
import { PasswordsBusy, verifyPassword } from '../../../../accounts/passwords.ts'
import { PERMISSIONS, RIGHTS, ROLES } from '../../../../accounts/rights.ts'
import {
  type Session,
  confirmSession,
  createSession,
  endSession,
  findSession,
  listBusinessesOf,
} from '../../../../accounts/sessions.ts'
import { redeemSecondFactor } from '../../../../accounts/second-factor.ts'
import { type Credentials, type User, findCredentials, readEmail } from '../../../../accounts/users.ts'
import { type ErrorCode, RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { openSecret } from '../../../../stores/seal-secret.ts'
import { type DashboardRoute, type SessionHandler, sessionRoute } from '../../../access/authenticate-session.ts'
import { chargeSignIn } from '../../../access/charge.ts'
import { refuseCrossSite } from '../../../access/refuse-cross-site.ts'
import { isPlainHttp, readSessionCookie, sessionCookie } from '../../../access/session-cookie.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { closed, oneOf, uuid } from '../../reply-fields.ts'

/** Error codes that every route of the dashboard can return, besides its own. */
export const SESSION_ERRORS: readonly ErrorCode[] = [
  'not_signed_in',
  'key_not_accepted',
  'cross_site_request',
  'method_not_allowed',
  'rate_limited',
  'internal',
  'unavailable',
]

/** The same for routes that take a body. */
export const SESSION_BODY_ERRORS: readonly ErrorCode[] = [
  ...SESSION_ERRORS,
  'malformed_json',
  'invalid_request',
  'payload_too_large',
  'unsupported_media_type',
]

/** The same for routes of a business. */
export const MEMBER_ERRORS: readonly ErrorCode[] = [...SESSION_ERRORS, 'not_permitted', 'business_not_found']
export const MEMBER_BODY_ERRORS: readonly ErrorCode[] = [...SESSION_BODY_ERRORS, 'not_permitted', 'business_not_found']

const UserData = Type.Object(
  {
    id: uuid,
    email: Type.String(),
    name: Type.String(),
    isOperator: Type.Boolean(),
    hasTotp: Type.Boolean(),
    hasPassword: Type.Boolean(),
  },
  closed,
)

const InstallationData = Type.Object(
  {
    isPlainHttp: Type.Boolean({ description: 'True when the dashboard is not reached over HTTPS.' }),
    canMail: Type.Boolean({ description: 'Whether SYSTEM_SMTP_URL and PUBLIC_URL are set.' }),
    isPublic: Type.Boolean({ description: 'Whether PUBLIC_URL is set.' }),
  },
  closed,
)

export const MeData = Type.Object(
  {
    user: UserData,
    businesses: Type.Array(
      Type.Object(
        {
          id: uuid,
          name: Type.String(),
          role: oneOf([...ROLES, 'operator']),
          timezone: Type.String(),
          currency: Type.String(),
          permissions: Type.Array(oneOf(PERMISSIONS)),
        },
        closed,
      ),
    ),
    installation: InstallationData,
  },
  closed,
)

const SIGNED_IN = 'You are signed in.'

/** Returns the data of every answer that signs a person in. */
export async function describeMe(app: AppContext, { request }: RequestContext, user: User) {
  const businesses = await listBusinessesOf(app.sql, user)
  const { id, email, name, isOperator, hasTotp, hasPassword } = user
  return {
    user: { id, email, name, isOperator, hasTotp, hasPassword },
    businesses: businesses.map(({ businessId, role, ...business }) => ({
      id: businessId,
      ...business,
      role,
      permissions: [...RIGHTS[role]],
    })),
    installation: describeInstallation(app, request),
  }
}

const describeInstallation = (app: AppContext, request: Request) => ({
  isPlainHttp: isPlainHttp(app, request),
  canMail: app.mailer !== undefined,
  isPublic: app.config.publicUrl !== undefined,
})

const getInstallation = (app: AppContext, { request }: RequestContext): Promise<Reply> =>
  Promise.resolve({ message: 'The installation.', data: describeInstallation(app, request) })

const getMe: SessionHandler = async (app, context, { user }) => ({
  message: SIGNED_IN,
  data: await describeMe(app, context, user),
})

const SignInSchema = Type.Object({
  email: Type.String({ maxLength: 320 }),
  password: Type.String({ maxLength: 1000 }),
  code: Type.Optional(Type.String({ maxLength: 40, description: 'Of the authenticator app, or a recovery code.' })),
})
const checkSignIn = compileCheck(SignInSchema)

async function signIn(app: AppContext, context: RequestContext): Promise<Reply> {
  refuseCrossSite(app, context.request)
  const { email: sent, password, code } = requireBody(checkSignIn(await readJson(app, context, BODY_LIMITS.single)))
  const email = readEmail(sent)
  await chargeSignIn(app, context, email)
  const found = email === null ? null : await findCredentials(app.sql, email)
  await requirePassword(found, password)
  if (found === null) throw new RequestError('wrong_credentials')
  await requireSecondFactor(app, context, found, code)
  return { message: SIGNED_IN, data: await startSession(app, context, found) }
}

/** Sets the cookie of a new session. Ends the former session of the browser, so that no session outlives a sign-in. */
export async function startSession(app: AppContext, context: RequestContext, user: User) {
  const { request, headers } = context
  const former = readSessionCookie(app, request)
  const ended = former === null ? null : await findSession(app.sql, former)
  if (ended !== null) await endSession(app.sql, ended.user.id, ended.id)
  const userAgent = request.headers.get('user-agent') ?? ''
  const token = await createSession(app.sql, user.id, { address: context.address(), userAgent })
  headers['Set-Cookie'] = sessionCookie(app, request, token)
  return describeMe(app, context, user)
}

/**
 * Checks a password. It takes the same time for an unknown address as for a wrong password. Throws RequestError:
 * wrong_credentials, unavailable.
 */
export async function requirePassword(
  found: Pick<Credentials, 'passwordHash'> | null,
  password: string,
): Promise<void> {
  try {
    if (await verifyPassword(found?.passwordHash ?? null, password)) return
  } catch (error) {
    if (error instanceof PasswordsBusy) throw new RequestError('unavailable', { headers: { 'Retry-After': '3' } })
    throw error
  }
  throw new RequestError('wrong_credentials')
}

/** Throws RequestError: second_factor_required, rate_limited. */
export async function requireSecondFactor(
  app: AppContext,
  { receivedAt: now }: RequestContext,
  { id, email, totpSecret }: Credentials,
  code: string | undefined,
): Promise<void> {
  if (totpSecret === null) return
  if (code === undefined || code === '') throw new RequestError('second_factor_required')
  const { secret } = openSecret(totpSecret, id, app.config.secretsKey) as { secret: string }
  const redeemed = await redeemSecondFactor(app.sql, { id, secret, code, now })
  if (redeemed.outcome === 'accepted') return
  if (redeemed.outcome === 'paused') {
    const reason = faultOf('', 'codes_paused', { minutes: Math.ceil(redeemed.seconds / 60) })
    throw new RequestError('rate_limited', { headers: { 'Retry-After': String(redeemed.seconds) }, reason })
  }
  if (redeemed.warns) void warnOfGuesses(app, email, redeemed.wrongCodes)
  throw new RequestError('second_factor_required', { message: 'The code is wrong or was used already.' })
}

/** The answer does not wait for the mail. */
async function warnOfGuesses({ mailer, log }: AppContext, email: string, count: number): Promise<void> {
  const text = `A person has your password, or a link to your account, and has entered ${count} wrong codes of your second step. After each further one, codes are refused for a while, up to an hour. Your recovery codes still work.

If it was not you, sign in and change your password.`
  await mailer
    ?.send({ to: email, subject: 'Wrong codes for your account', text })
    .catch((error: unknown) => log.warn({ err: error }, 'a warning of wrong codes was not sent'))
}

async function signOut(app: AppContext, context: RequestContext, session: Session): Promise<Reply> {
  await endSession(app.sql, session.user.id, session.id)
  context.headers['Set-Cookie'] = sessionCookie(app, context.request, null)
  return { message: 'You are signed out.', data: {} }
}

const ConfirmSchema = Type.Object({
  password: Type.String({ maxLength: 1000 }),
  code: Type.Optional(Type.String({ maxLength: 40 })),
})
const checkConfirm = compileCheck(ConfirmSchema)

/** Lets a signed-in person prove again who they are, before a dangerous change. */
async function confirm(app: AppContext, context: RequestContext, { id, user }: Session): Promise<Reply> {
  const { password, code } = requireBody(checkConfirm(await readJson(app, context, BODY_LIMITS.single)))
  await chargeSignIn(app, context, user.email)
  const found = await findCredentials(app.sql, user.email)
  await requirePassword(found, password)
  if (found !== null) await requireSecondFactor(app, context, found, code)
  await confirmSession(app.sql, id)
  return { message: 'Confirmed.', data: {} }
}

const nothing = (message: string) => ({ 200: { message, description: 'Done.', data: Type.Object({}, closed) } })
const me = { 200: { message: SIGNED_IN, description: 'The person and their businesses.', data: MeData } }

export const sessionRoutes: readonly DashboardRoute[] = [
  {
    method: 'GET',
    path: '/dashboard/api/installation',
    access: 'anybody',
    answer: getInstallation,
    operation: {
      summary: 'What the sign-in page needs to know',
      tag: 'Account',
      key: 'none',
      replies: { 200: { message: 'The installation.', description: 'The installation.', data: InstallationData } },
      errors: ['method_not_allowed', 'internal', 'unavailable'],
    },
  },
  {
    method: 'POST',
    path: '/dashboard/api/session',
    access: 'anybody',
    answer: signIn,
    operation: {
      summary: 'Sign in',
      tag: 'Account',
      key: 'none',
      body: { schema: SignInSchema },
      replies: me,
      errors: [
        ...SESSION_BODY_ERRORS.filter((code) => code !== 'not_signed_in'),
        'wrong_credentials',
        'second_factor_required',
      ],
    },
  },
  sessionRoute({
    method: 'DELETE',
    path: '/dashboard/api/session',
    handler: signOut,
    operation: {
      summary: 'Sign out',
      tag: 'Account',
      key: 'session',
      replies: nothing('You are signed out.'),
      errors: SESSION_ERRORS,
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/dashboard/api/session/confirm',
    handler: confirm,
    operation: {
      summary: 'Confirm that it is you',
      tag: 'Account',
      key: 'session',
      body: { schema: ConfirmSchema },
      replies: nothing('Confirmed.'),
      errors: [...SESSION_BODY_ERRORS, 'wrong_credentials', 'second_factor_required'],
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/dashboard/api/me',
    handler: getMe,
    operation: {
      summary: 'Who is signed in',
      tag: 'Account',
      key: 'session',
      replies: me,
      errors: SESSION_ERRORS,
    },
  }),
]
