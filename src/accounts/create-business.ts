import type { PersonActor } from '../audit/audit.ts'
import { type NewBusiness, addBusiness } from '../businesses/businesses.ts'
import type { Sql } from '../stores/postgres.ts'
import { type NewInvitation, addInvitation } from './invitations.ts'
import { changePeople, setRole } from './members.ts'

/** `invitation`: of the owner; null when the actor is the owner. */
interface Created {
  kind: 'created'
  businessId: string
  invitation: { id: string; token: string } | null
}

/**
 * Creates a business with an owner: the person whom the actor invites, or the actor when `invited` is null.
 * `not_permitted`: the actor has lost the right to invite, or the account.
 */
export const createOwnedBusiness = (
  sql: Sql,
  actor: PersonActor,
  settings: NewBusiness,
  invited: Omit<NewInvitation, 'role'> | null,
) =>
  changePeople<Created, { kind: 'not_permitted' }>(sql, async (tx, refuse) => {
    const businessId = await addBusiness(tx, actor, settings)
    if (invited === null) {
      if ((await setRole(tx, businessId, actor.id, 'owner')) !== 'done') throw refuse({ kind: 'not_permitted' })
      return { kind: 'created', businessId, invitation: null }
    }
    const invitation = await addInvitation(tx, { businessId, actor }, { ...invited, role: 'owner' })
    // A new business has no other invitations, so there are not too many.
    if (invitation.kind !== 'invited') throw refuse({ kind: 'not_permitted' })
    return { kind: 'created', businessId, invitation }
  })
