/**
 * Gives an account to the person who has its mailbox. Until then, its password may have been chosen by the
 * person who passed on an invitation by hand.
 */
import type { Queryable } from '../stores/postgres.ts'
import { recordAudit } from '../audit/audit.ts'
import { removeLinks, revokeLostInvitations } from './links.ts'
import { type MemberChange, keepOwner, lockBusinessesOf } from './members.ts'
import { endSessions } from './sessions.ts'

/**
 * Removes what others may have put into the account: password, sessions, links, and roles in businesses. A business that
 * has no other owner keeps it as its owner. Call it in the transaction of the link that proves the address and invites to
 * a business. `not_found`: the address has been proven, or a second factor turned on, in the meantime. A mailbox alone
 * does not replace a second factor.
 */
export function startAnew(
  tx: Queryable,
  { id, email }: { id: string; email: string },
  invitedTo: string,
): Promise<MemberChange> {
  return keepOwner(async () => {
    await lockBusinessesOf(tx, id, invitedTo)
    const { count } = await tx`
      update users set password_hash = null, name = '', totp_secret = null, email_proven = true
      where id = ${id} and not email_proven and not is_operator and not totp_confirmed`
    if (count === 0) return 'not_found'
    const left = await tx<{ businessId: string }[]>`
      delete from memberships m where m.user_id = ${id} and (m.role <> 'owner' or exists (
        select from memberships o where o.business_id = m.business_id and o.role = 'owner' and o.user_id <> m.user_id))
      returning m.business_id as "businessId"`
    const actor = { kind: 'user', id, name: email } as const
    for (const { businessId } of left)
      await recordAudit(tx, { businessId, actor, action: 'person.remove', target: id, details: { email } })
    await revokeLostInvitations(tx, id, actor)
    await endSessions(tx, id)
    await removeLinks(tx, email)
    return 'done'
  })
}
