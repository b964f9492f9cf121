/**
 * Invites a person. They get the link by mail or, where the installation cannot send mail, from the person who invites.
 */
import { type Static, Type } from '@sinclair/typebox'
import { type Actor, recordAudit } from '../../../audit/audit.ts'
import { LINK_HOURS, MAX_INVITATIONS, addInvitation } from '../../../accounts/links.ts'
import { ROLES, type Role } from '../../../accounts/rights.ts'
import { linkUrl } from '../../../accounts/system-mail.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import type { AppContext } from '../../app-context.ts'
import { closed, oneOf, orNull, uuid } from '../reply-fields.ts'

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
  actor: Actor
  /** Whether the link goes out by mail. */
  isMailed: boolean
}

/**
 * Stores an invitation in the transaction `tx`. It replaces a pending invitation of the same person. Throws
 * RequestError `limit_reached`, `not_permitted`.
 */
export async function storeInvitation(tx: Queryable, { business, email, role, actor, isMailed }: Wanted) {
  const invited = await addInvitation(tx, { businessId: business.id, email, role, invitedBy: actor, isMailed })
  if (invited === 'not_permitted') throw new RequestError('not_permitted')
  if (invited === 'full') {
    throw new RequestError('limit_reached', { reason: faultOf('', 'invitations_full', { max: MAX_INVITATIONS }) })
  }
  const entry = { businessId: business.id, actor, action: 'person.invite', target: invited.id }
  await recordAudit(tx, { ...entry, details: { email, role } })
  return invited
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
  const text = `${actor.name} invites you to ${name} on Sluice. Your role is: ${role}. To accept, open this link within ${LINK_HOURS.invitation / 24} days:

${link}

If you do not expect this, ignore this mail.`
  return { to: email, subject: `Invitation to ${name}`, text }
}

/** Removes line breaks from a name, so that it cannot look like more lines of the mail. */
const oneLine = (text: string): string => text.replaceAll(/[\s\p{C}]+/gu, ' ')
