/**
 * Invites a person. They get the link by mail or, where the installation cannot send mail, from the person who invites.
 */
import { type Static, Type } from '@sinclair/typebox'
import type { PersonActor } from '../../../../audit/audit.ts'
import {
  INVITATION_HOURS,
  type InviteOutcome,
  MAX_INVITATIONS,
  createInvitation,
} from '../../../../accounts/invitations.ts'
import { ROLES, type Role } from '../../../../accounts/rights.ts'
import { linkUrl } from '../../../../accounts/system-mail.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import type { AppContext } from '../../../app-context.ts'
import { closed, oneOf, orNull, uuid } from '../../reply-fields.ts'

export const InvitedData = Type.Object(
  {
    invitationId: uuid,
    email: Type.String(),
    role: oneOf(ROLES),
    mail: oneOf(['sent', 'failed', 'off']),
    link: orNull(
      Type.String({
        description: 'For you to pass on, when the installation cannot send mail. A path until PUBLIC_URL is set.',
      }),
    ),
  },
  closed,
)

interface Wanted {
  business: { id: string; name: string }
  email: string
  role: Role
  actor: PersonActor
}

/** Invites a person, and replaces their open invitation. Throws RequestError `limit_reached`, `not_permitted`. */
export async function invite(
  app: AppContext,
  { business, actor }: Pick<Wanted, 'business' | 'actor'>,
  { email, role }: Pick<Wanted, 'email' | 'role'>,
): Promise<Static<typeof InvitedData>> {
  const change = { businessId: business.id, actor }
  const invited = await createInvitation(app.sql, change, { email, role, isMailed: app.mailer !== undefined })
  return deliverInvitation(app, requireInvited(invited), { business, email, role, actor })
}

function requireInvited(outcome: InviteOutcome): { id: string; token: string } {
  if (outcome.kind === 'invited') return outcome
  if (outcome.kind === 'not_permitted') throw new RequestError('not_permitted')
  throw new RequestError('limit_reached', { reason: faultOf('', 'invitations_full', { max: MAX_INVITATIONS }) })
}

export async function deliverInvitation(
  app: AppContext,
  { id, token }: { id: string; token: string },
  wanted: Wanted,
): Promise<Static<typeof InvitedData>> {
  const invited = { invitationId: id, email: wanted.email, role: wanted.role }
  const link = linkUrl(app.config.publicUrl ?? '', token)
  if (app.mailer === undefined) return { ...invited, mail: 'off', link }
  try {
    await app.mailer.send(compose(wanted, link))
    return { ...invited, mail: 'sent', link: null }
  } catch (error) {
    app.log.warn({ err: error }, 'an invitation was not sent')
    return { ...invited, mail: 'failed', link: null }
  }
}

function compose({ business, email, role, actor }: Wanted, link: string) {
  const name = oneLine(business.name)
  const text = `${actor.name} invites you to ${name} on Sluice. Your role is: ${role}. To accept, open this link within ${INVITATION_HOURS / 24} days:

${link}

If you do not expect this, ignore this mail.`
  return { to: email, subject: `Invitation to ${name}`, text }
}

/** Removes line breaks from a name, so that it cannot look like more lines of the mail. */
const oneLine = (text: string): string => text.replaceAll(/[\s\p{C}]+/gu, ' ')
