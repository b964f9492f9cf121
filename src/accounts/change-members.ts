/** Changes the roles of people in a business. Who loses the right to invite loses their open invitations with it. */
import { type Change, recordAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { revokeLostInvitations } from './invitations.ts'
import { type RoleOutcome, changePeople, lockBusiness, setRole } from './members.ts'
import type { Role } from './rights.ts'
import { readEmailOf } from './users.ts'

export type MemberRefusal = { kind: 'not_found' } | { kind: 'too_many' } | { kind: 'last_owner' }
/** `revokedInvitations`: the invited addresses. */
export type MemberOutcome = { kind: 'done'; revokedInvitations: string[] } | MemberRefusal

/** `canAdd`: a person who is not in the business yet is added. */
export function changeRole(
  sql: Sql,
  change: Change,
  { userId, role, canAdd = false }: { userId: string; role: Role; canAdd?: boolean },
): Promise<MemberOutcome> {
  const { businessId } = change
  return changeMember(sql, change, { userId, action: 'person.role', details: { role } }, async (tx) => {
    await lockBusiness(tx, businessId)
    const [member] = await tx`select from memberships where business_id = ${businessId} and user_id = ${userId}`
    return canAdd || member !== undefined ? setRole(tx, businessId, userId, role) : 'not_found'
  })
}

export function removeMember(sql: Sql, change: Change, userId: string): Promise<MemberOutcome> {
  const { businessId } = change
  return changeMember(sql, change, { userId, action: 'person.remove' }, async (tx) => {
    if (!(await lockBusiness(tx, businessId))) return 'not_found'
    const { count } = await tx`delete from memberships where business_id = ${businessId} and user_id = ${userId}`
    return count > 0 ? 'done' : 'not_found'
  })
}

function changeMember(
  sql: Sql,
  { businessId, actor }: Change,
  { userId, action, details }: { userId: string; action: string; details?: { role: Role } },
  change: (tx: Queryable) => Promise<RoleOutcome>,
): Promise<MemberOutcome> {
  return changePeople<MemberOutcome>(sql, async (tx) => {
    const kind = await change(tx)
    if (kind === 'unchanged') return { kind: 'done', revokedInvitations: [] }
    if (kind !== 'done') return { kind }
    const email = await readEmailOf(tx, userId)
    await recordAudit(tx, { businessId, actor, action, target: userId, details: { email, ...details } })
    return { kind, revokedInvitations: await revokeLostInvitations(tx, userId, actor) }
  })
}
