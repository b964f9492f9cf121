/**
 * Gives an account to the person who has its mailbox. Until then, its password may have been chosen by the
 * person who passed on an invitation by hand.
 */
import type { Queryable } from '../stores/postgres.ts'
import { recordAudit } from '../audit/audit.ts'
import { revokeLostInvitations } from './invitations.ts'
import { removeLinks } from './links.ts'
import { lockBusinessesOf } from './members.ts'
import { recordAccountChange } from './record-account-change.ts'
import { endSessions } from './sessions.ts'
import type { UserName } from './users.ts'

/**
 * Removes what others may have put into the account: password, sessions, links, and roles in businesses. A business that
 * has no other owner keeps it as its owner. Call it in the transaction of the link that proves the address and invites to
 * a business. Returns false, and has changed nothing, when the address has been proven, or a second factor turned on, in
 * the meantime. A mailbox alone does not replace a second factor.
 */
export async function startAnew(tx: Queryable, { id, email }: UserName, invitedTo: string): Promise<boolean> {
  await lockBusinessesOf(tx, id, invitedTo)
  const { count } = await tx`
    update users set password_hash = null, name = '', totp_secret = null, email_proven = true
    where id = ${id} and not email_proven and not is_operator and not totp_confirmed`
  if (count === 0) return false
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
  await recordAccountChange(tx, { id, email }, 'start-anew')
  return true
}
