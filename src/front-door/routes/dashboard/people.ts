/** The people of a business, their roles, and invitations. */
import { Type } from '@sinclair/typebox'
import { recordAudit } from '../../../audit/audit.ts'
import { revokeLostInvitations } from '../../../accounts/links.ts'
import {
  type MemberChange,
  changeRole,
  findInvitation,
  listInvitations,
  listMembers,
  removeInvitation,
  removeMember,
} from '../../../accounts/members.ts'
import { ROLES } from '../../../accounts/rights.ts'
import { readEmail, readEmailOf } from '../../../accounts/users.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import { type DashboardRoute, businessRoute } from '../../access/authenticate-session.ts'
import { chargeSignIn } from '../../access/charge.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../http/read-body.ts'
import { readId } from '../../http/read-id.ts'
import { closed, dateTime, oneOf, orNull, uuid } from '../reply-fields.ts'
import { InvitedData, deliverInvitation, storeInvitation } from './invite.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from './session.ts'
import { inTransaction } from '../../../stores/transaction.ts'

const INVITED = 'The person is invited.'
const ROLE_CHANGED = 'The role is changed.'
const REMOVED = 'The person is removed.'
const LOST = 'If they may no longer invite people, the open invitations that they made are revoked.'

async function getPeople(app: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  const [members, invitations] = await Promise.all([
    listMembers(app.sql, business.id),
    listInvitations(app.sql, business.id),
  ])
  return {
    message: 'The people.',
    data: {
      members: members.map(({ createdAt, seenAt, ...member }) => ({
        ...member,
        createdAt: createdAt.toISOString(),
        seenAt: seenAt?.toISOString() ?? null,
      })),
      invitations: invitations.map(({ createdAt, expiresAt, ...invitation }) => ({
        ...invitation,
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      })),
    },
  }
}

const RoleSchema = Type.Object({ role: oneOf(ROLES) })
const checkRole = compileCheck(RoleSchema)

async function putRole(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const { role } = requireBody(checkRole(await readJson(app, context, BODY_LIMITS.single)))
  const userId = requireId(context, 'userId')
  const revokedInvitations = await inTransaction(app.sql, async (tx) => {
    requireDone(await changeRole(tx, business.id, userId, role))
    const details = { email: await readEmailOf(tx, userId), role }
    await recordAudit(tx, { businessId: business.id, actor, action: 'person.role', target: userId, details })
    return revokeLostInvitations(tx, userId, actor)
  })
  return { message: ROLE_CHANGED, data: { revokedInvitations } }
}

async function deletePerson(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const userId = requireId(context, 'userId')
  const revokedInvitations = await inTransaction(app.sql, async (tx) => {
    requireDone(await removeMember(tx, business.id, userId))
    const details = { email: await readEmailOf(tx, userId) }
    await recordAudit(tx, { businessId: business.id, actor, action: 'person.remove', target: userId, details })
    return revokeLostInvitations(tx, userId, actor)
  })
  return { message: REMOVED, data: { revokedInvitations } }
}

/**
 * Throws an error for a change that the database rejected. The rejection has ended the transaction, so the error must
 * leave it.
 */
function requireDone(change: MemberChange): void {
  if (change === 'not_found') throw new RequestError('not_found')
  if (change === 'too_many') throw new RequestError('limit_reached')
  if (change === 'last_owner') throw new RequestError('last_owner')
}

const InviteSchema = Type.Object({ email: Type.String({ maxLength: 320 }), role: oneOf(ROLES) })
const checkInvite = compileCheck(InviteSchema)

async function postInvitation(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { email: sent, role } = requireBody(checkInvite(await readJson(app, context, BODY_LIMITS.single)))
  const { business, actor } = principal
  const email = readEmail(sent)
  if (email === null) throw invalidRequest([faultOf('email', 'email')])
  await chargeSignIn(app, context, email)
  const isMember = (await listMembers(app.sql, business.id)).some((member) => member.email === email)
  if (isMember) throw invalidRequest([faultOf('email', 'member_already')])
  const wanted = { business, email, role, actor, isMailed: app.mailer !== undefined }
  const stored = await inTransaction(app.sql, (tx) => storeInvitation(tx, wanted))
  return { message: INVITED, data: await deliverInvitation(app, stored, wanted) }
}

/** Sends a new link, which replaces the old one. */
async function postResend(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const found = await findInvitation(app.sql, business.id, requireId(context, 'invitationId'))
  if (found === null) throw new RequestError('not_found')
  await chargeSignIn(app, context, found.email)
  const wanted = { business, email: found.email, role: found.role, actor, isMailed: app.mailer !== undefined }
  const stored = await inTransaction(app.sql, (tx) => storeInvitation(tx, wanted))
  return { message: INVITED, data: await deliverInvitation(app, stored, wanted) }
}

async function deleteInvitation(app: AppContext, context: RequestContext, { business, actor }: Principal) {
  const id = requireId(context, 'invitationId')
  await inTransaction(app.sql, async (tx) => {
    const email = await removeInvitation(tx, business.id, id)
    if (email === null) throw new RequestError('not_found')
    const entry = { businessId: business.id, actor, action: 'invitation.revoke', target: id }
    await recordAudit(tx, { ...entry, details: { email } })
  })
  return { message: 'The invitation is revoked.', data: {} }
}

function requireId(context: RequestContext, name: string): string {
  const id = readId(context.params[name])
  if (id === null) throw new RequestError('not_found')
  return id
}

const PeopleData = Type.Object(
  {
    members: Type.Array(
      Type.Object(
        {
          userId: uuid,
          email: Type.String(),
          name: Type.String(),
          role: oneOf(ROLES),
          hasTotp: Type.Boolean(),
          createdAt: dateTime,
          seenAt: orNull(dateTime),
        },
        closed,
      ),
    ),
    invitations: Type.Array(
      Type.Object(
        {
          id: uuid,
          email: Type.String(),
          role: oneOf(ROLES),
          invitedBy: Type.String(),
          createdAt: dateTime,
          expiresAt: dateTime,
        },
        closed,
      ),
    ),
  },
  closed,
)

const done = (message: string) => ({ 200: { message, description: 'Done.', data: Type.Object({}, closed) } })
const RevokedData = Type.Object(
  {
    revokedInvitations: Type.Array(Type.String(), {
      description: 'Open invitations that the person had made, and may no longer make: the invited addresses.',
    }),
  },
  closed,
)
const revoking = (message: string) => ({ 200: { message, description: 'Done.', data: RevokedData } })
const invited = { 200: { message: INVITED, description: 'How the link reaches the person.', data: InvitedData } }
const DANGEROUS = ['confirmation_required', 'not_found'] as const
const common = { tag: 'Settings', key: 'session' } as const

export const peopleRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/people',
    permission: 'contacts:read',
    handler: getPeople,
    operation: {
      ...common,
      summary: 'List people and open invitations',
      replies: { 200: { message: 'The people.', description: 'By email.', data: PeopleData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'PUT',
    path: '/people/:userId',
    permission: 'people:write',
    isDangerous: true,
    handler: putRole,
    operation: {
      ...common,
      summary: 'Change the role of a person',
      description: LOST,
      body: { schema: RoleSchema },
      replies: revoking(ROLE_CHANGED),
      errors: [...MEMBER_BODY_ERRORS, ...DANGEROUS, 'last_owner', 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/people/:userId',
    permission: 'people:write',
    isDangerous: true,
    handler: deletePerson,
    operation: {
      ...common,
      summary: 'Remove a person from the business',
      description: LOST,
      replies: revoking(REMOVED),
      errors: [...MEMBER_ERRORS, ...DANGEROUS, 'last_owner', 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/invitations',
    permission: 'people:write',
    isDangerous: true,
    handler: postInvitation,
    operation: {
      ...common,
      summary: 'Invite a person',
      description: 'The link is valid for 7 days. A person who has an account has to sign in to accept.',
      body: { schema: InviteSchema },
      replies: invited,
      errors: [...MEMBER_BODY_ERRORS, 'confirmation_required', 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/invitations/:invitationId/resend',
    permission: 'people:write',
    isDangerous: true,
    handler: postResend,
    operation: {
      ...common,
      summary: 'Send an invitation again',
      description: 'With a new link. The old one is no longer valid.',
      replies: invited,
      errors: [...MEMBER_ERRORS, ...DANGEROUS, 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/invitations/:invitationId',
    permission: 'people:write',
    handler: deleteInvitation,
    operation: {
      ...common,
      summary: 'Revoke an invitation',
      replies: done('The invitation is revoked.'),
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
]
