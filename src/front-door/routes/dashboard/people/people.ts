/** The people of a business, their roles, and invitations. */
import { Type } from '@sinclair/typebox'
import { type MemberOutcome, changeRole, removeMember } from '../../../../accounts/change-members.ts'
import { findInvitation, listInvitations, revokeInvitation } from '../../../../accounts/invitations.ts'
import { listMembers } from '../../../../accounts/members.ts'
import { ROLES } from '../../../../accounts/rights.ts'
import { readEmail } from '../../../../accounts/users.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { type DashboardRoute, type PersonPrincipal, businessRoute } from '../../../access/authenticate-session.ts'
import { chargeSignIn } from '../../../access/charge.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { closed, dateTime, oneOf, orNull, uuid } from '../../reply-fields.ts'
import { InvitedData, invite } from './invite.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from './session.ts'

const INVITED = 'The person is invited.'
const ROLE_CHANGED = 'The role is changed.'
const REMOVED = 'The person is removed.'
const LOST = 'If they may no longer invite people, the open invitations that they made are revoked.'

async function getPeople(app: AppContext, _: RequestContext, { business }: PersonPrincipal): Promise<Reply> {
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

async function putRole(app: AppContext, context: RequestContext, principal: PersonPrincipal): Promise<Reply> {
  const { role } = requireBody(checkRole(await readJson(app, context, BODY_LIMITS.single)))
  const changed = await changeRole(app.sql, changeOf(principal), { userId: requireId(context, 'userId'), role })
  return { message: ROLE_CHANGED, data: requireDone(changed) }
}

async function deletePerson(app: AppContext, context: RequestContext, principal: PersonPrincipal): Promise<Reply> {
  const removed = await removeMember(app.sql, changeOf(principal), requireId(context, 'userId'))
  return { message: REMOVED, data: requireDone(removed) }
}

const changeOf = ({ business, actor }: PersonPrincipal) => ({ businessId: business.id, actor })

function requireDone(outcome: MemberOutcome): { revokedInvitations: string[] } {
  if (outcome.kind === 'done') return { revokedInvitations: outcome.revokedInvitations }
  throw new RequestError(outcome.kind === 'too_many' ? 'limit_reached' : outcome.kind)
}

const InviteSchema = Type.Object({ email: Type.String({ maxLength: 320 }), role: oneOf(ROLES) })
const checkInvite = compileCheck(InviteSchema)

async function postInvitation(app: AppContext, context: RequestContext, principal: PersonPrincipal): Promise<Reply> {
  const { email: sent, role } = requireBody(checkInvite(await readJson(app, context, BODY_LIMITS.single)))
  const email = readEmail(sent)
  if (email === null) throw invalidRequest([faultOf('email', 'email')])
  await chargeSignIn(app, context, email)
  const isMember = (await listMembers(app.sql, principal.business.id)).some((member) => member.email === email)
  if (isMember) throw invalidRequest([faultOf('email', 'member_already')])
  return { message: INVITED, data: await invite(app, principal, { email, role }) }
}

/** Sends a new link, which replaces the old one. */
async function postResend(app: AppContext, context: RequestContext, principal: PersonPrincipal): Promise<Reply> {
  const found = await findInvitation(app.sql, principal.business.id, requireId(context, 'invitationId'))
  if (found === null) throw new RequestError('not_found')
  await chargeSignIn(app, context, found.email)
  return { message: INVITED, data: await invite(app, principal, found) }
}

async function deleteInvitation(app: AppContext, context: RequestContext, principal: PersonPrincipal): Promise<Reply> {
  const { kind } = await revokeInvitation(app.sql, changeOf(principal), requireId(context, 'invitationId'))
  if (kind === 'not_found') throw new RequestError('not_found')
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
