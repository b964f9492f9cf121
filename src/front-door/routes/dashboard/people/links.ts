/** One-time links and forgotten passwords. */
import { type Static, Type } from '@sinclair/typebox'
import { LINK_HOURS, type AccountLink, createLink, readLink } from '../../../../accounts/links.ts'
import { PASSWORD_LENGTH } from '../../../../accounts/passwords.ts'
import { ROLES } from '../../../../accounts/rights.ts'
import { findSession } from '../../../../accounts/sessions.ts'
import { linkUrl } from '../../../../accounts/system-mail.ts'
import { type AccountFields, takeLink } from '../../../../accounts/take-link.ts'
import { type Credentials, PLACEHOLDER_EMAIL, findCredentials, readEmail } from '../../../../accounts/users.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import type { DashboardRoute } from '../../../access/authenticate-session.ts'
import { chargeSignIn } from '../../../access/charge.ts'
import { refuseCrossSite } from '../../../access/refuse-cross-site.ts'
import { readSessionCookie } from '../../../access/session-cookie.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { closed, oneOf } from '../../reply-fields.ts'
import { newPasswordHash } from './account.ts'
import { MeData, SESSION_BODY_ERRORS, requireSecondFactor, startSession } from './session.ts'

const TokenSchema = Type.String({ minLength: 1, maxLength: 200 })
const checkRead = compileCheck(Type.Object({ token: TokenSchema }))

const LinkData = Type.Object(
  {
    kind: oneOf(['sign-in', 'reset', 'invitation']),
    email: Type.String(),
    businessName: Type.Optional(Type.String()),
    role: Type.Optional(oneOf(ROLES)),
    needsPassword: Type.Boolean({ description: 'Whether a password has to be chosen now.' }),
    needsEmail: Type.Boolean({ description: 'Whether an email address has to be given: the first operator has none.' }),
    needsCode: Type.Boolean({
      description:
        'Whether a code of the second factor is needed: with this link or, if the person has to sign in first, there.',
    }),
    needsSignIn: Type.Boolean({ description: 'Whether the person has to sign in first: they have an account.' }),
    mayStartAnew: Type.Boolean({
      description:
        'Whether the person may choose a new password in place of signing in: the address of the account was never proven, and this link proves it. ' +
        'The account loses its sessions, its links, and its roles in businesses, except those of which it is the only owner. ' +
        'An account with a second factor does not start anew: an operator can remove it (`admin user remove-second-factor`).',
    }),
  },
  closed,
)

/** Does not use the link up: mail scanners open links, and the page reads the link before the person decides. */
async function postReadLink(app: AppContext, context: RequestContext): Promise<Reply> {
  refuseCrossSite(app, context.request)
  const { token } = requireBody(checkRead(await readJson(app, context, BODY_LIMITS.single)))
  await chargeSignIn(app, context, null)
  const link = await requireLink(app, token)
  const user = await findCredentials(app.sql, link.email)
  const { kind, email, invitation } = link
  const needsSignIn = invitation !== null && user !== null && !(await isSignedInAs(app, context, user))
  const isUnproven = needsSignIn && maybeStranger(link, user)
  const data: Static<typeof LinkData> = {
    kind,
    email,
    ...(invitation && { businessName: invitation.businessName, role: invitation.role }),
    needsPassword: kind === 'reset' || (kind === 'invitation' && user === null),
    needsEmail: email === PLACEHOLDER_EMAIL,
    needsCode: requiresCode(link, user) || (isUnproven && user.hasTotp),
    needsSignIn,
    mayStartAnew: isUnproven && !user.hasTotp,
  }
  return { message: 'The link can be used.', data }
}

const TakeSchema = Type.Object({
  token: TokenSchema,
  password: Type.Optional(Type.String({ maxLength: 1000 })),
  name: Type.Optional(Type.String({ maxLength: 200 })),
  email: Type.Optional(Type.String({ maxLength: 320 })),
  code: Type.Optional(Type.String({ maxLength: 40, description: 'Of the authenticator app, or a recovery code.' })),
})
const checkTake = compileCheck(TakeSchema)

async function postLink(app: AppContext, context: RequestContext): Promise<Reply> {
  refuseCrossSite(app, context.request)
  const sent = requireBody(checkTake(await readJson(app, context, BODY_LIMITS.single)))
  await chargeSignIn(app, context, null)
  const link = await requireLink(app, sent.token)
  const user = await findCredentials(app.sql, link.email)
  const isElsewhere = link.invitation !== null && user !== null && !(await isSignedInAs(app, context, user))
  const isAnew = isElsewhere && maybeStranger(link, user) && !user.hasTotp && sent.password !== undefined
  // Otherwise the person who invites could use the link, and with it take over the account.
  if (isElsewhere && !isAnew) throw otherAccount(link, user)
  const wanted = await readWanted(app, { link, user: isAnew ? null : user }, sent)
  if (user !== null && requiresCode(link, user)) await requireSecondFactor(app, context, user, sent.code)
  const { kind } = await takeLink(app.sql, { link, token: sent.token, user, isAnew, wanted })
  if (kind === 'other_account') throw otherAccount(link, user)
  if (kind !== 'taken') throw new RequestError(kind === 'too_many' ? 'limit_reached' : kind)
  const signedIn = await findCredentials(app.sql, wanted.email ?? link.email)
  if (signedIn === null) throw new RequestError('link_expired')
  return { message: 'You are signed in.', data: await startSession(app, context, signedIn) }
}

/**
 * Access to the mailbox does not replace the second factor. A sign-in link does, since only an operator can create one.
 */
const requiresCode = ({ kind }: AccountLink, user: Credentials | null): boolean =>
  kind === 'reset' && user?.hasTotp === true

/** Whether another person may have made the account, while this link is in its mailbox alone. */
const maybeStranger = ({ invitation, provesAddress }: AccountLink, user: Credentials | null): boolean =>
  invitation !== null && provesAddress && user?.hasProvenEmail === false

/** Only the mailbox learns of the second factor, not the person who invites. */
const otherAccount = (link: AccountLink, user: Credentials | null): RequestError => {
  const reason = maybeStranger(link, user) && user?.hasTotp ? 'other_account_factor' : 'other_account'
  return new RequestError('not_signed_in', { reason: faultOf('', reason, { email: link.email }) })
}

/**
 * Returns what the link changes in the account. `user` is null for one that is new, or starts anew. Throws RequestError
 * `invalid_request`.
 */
async function readWanted(
  app: AppContext,
  { link, user }: { link: AccountLink; user: Credentials | null },
  { password, name, email }: Static<typeof TakeSchema>,
): Promise<AccountFields> {
  const setsPassword = link.kind === 'reset' || user === null || (link.kind === 'sign-in' && password !== undefined)
  const wanted: AccountFields = {
    ...(name !== undefined && user?.name !== name && { name }),
    ...(link.provesAddress && { hasProvenEmail: true }),
  }
  if (link.email === PLACEHOLDER_EMAIL) {
    const address = email === undefined ? null : readEmail(email)
    if (address === null || address === PLACEHOLDER_EMAIL) throw invalidRequest([faultOf('email', 'email')])
    if ((await findCredentials(app.sql, address)) !== null) {
      throw invalidRequest([faultOf('email', 'account_already')])
    }
    wanted.email = address
    wanted.hasProvenEmail = false
  }
  return setsPassword ? { ...wanted, passwordHash: await newPasswordHash(password ?? '') } : wanted
}

async function requireLink(app: AppContext, token: string): Promise<AccountLink> {
  const link = await readLink(app.sql, token)
  if (link === null) throw new RequestError('link_expired')
  return link
}

async function isSignedInAs(app: AppContext, { request }: RequestContext, { id }: Credentials): Promise<boolean> {
  const token = readSessionCookie(app, request)
  const session = token === null ? null : await findSession(app.sql, token)
  return session?.user.id === id
}

const ResetSchema = Type.Object({ email: Type.String({ maxLength: 320 }) })
const checkReset = compileCheck(ResetSchema)

const SENT = 'If there is an account with this address, a link was sent to it.'

/** Gives the same answer, after the same time, whether or not there is such an account: the mail is sent afterwards. */
async function postPasswordReset(app: AppContext, context: RequestContext): Promise<Reply> {
  refuseCrossSite(app, context.request)
  const { email: sent } = requireBody(checkReset(await readJson(app, context, BODY_LIMITS.single)))
  const email = readEmail(sent)
  await chargeSignIn(app, context, email)
  if (email !== null)
    void sendReset(app, email).catch((error: unknown) => app.log.warn({ err: error }, 'a password mail failed'))
  return { status: 202, message: SENT, data: {} }
}

async function sendReset({ sql, mailer, config }: AppContext, email: string): Promise<void> {
  const { publicUrl } = config
  if (mailer === undefined || publicUrl === undefined || (await findCredentials(sql, email)) === null) return
  const token = await createLink(sql, 'reset', email)
  const text = `A new password was requested for your Sluice account. To choose one, open this link within ${LINK_HOURS.reset} hour:

${linkUrl(publicUrl, token)}

If it was not you, ignore this mail: nothing has changed.`
  await mailer.send({ to: email, subject: 'Choose a new password', text })
}

const LINK_ERRORS = [...SESSION_BODY_ERRORS.filter((code) => code !== 'key_not_accepted'), 'link_expired'] as const

export const linkRoutes: readonly DashboardRoute[] = [
  {
    method: 'POST',
    path: '/dashboard/api/link/read',
    access: 'anybody',
    answer: postReadLink,
    operation: {
      summary: 'Read what a link is for',
      tag: 'Account',
      key: 'none',
      body: { schema: Type.Object({ token: TokenSchema }) },
      replies: { 200: { message: 'The link can be used.', description: 'What it is for.', data: LinkData } },
      errors: LINK_ERRORS,
    },
  },
  {
    method: 'POST',
    path: '/dashboard/api/link',
    access: 'anybody',
    answer: postLink,
    operation: {
      summary: 'Use a link',
      description: `A new password has ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`,
      tag: 'Account',
      key: 'none',
      body: { schema: TakeSchema },
      replies: {
        200: { message: 'You are signed in.', description: 'The person and their businesses.', data: MeData },
      },
      errors: [...LINK_ERRORS, 'second_factor_required', 'last_owner', 'limit_reached'],
    },
  },
  {
    method: 'POST',
    path: '/dashboard/api/password-reset',
    access: 'anybody',
    answer: postPasswordReset,
    operation: {
      summary: 'Ask for a new password',
      tag: 'Account',
      key: 'none',
      body: { schema: ResetSchema },
      replies: { 202: { message: SENT, description: 'The same for every address.', data: Type.Object({}, closed) } },
      errors: LINK_ERRORS.filter((code) => code !== 'link_expired' && code !== 'not_signed_in'),
    },
  },
]
