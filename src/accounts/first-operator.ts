import { recordAudit } from '../audit/audit.ts'
import { commandActor } from '../audit/command-actor.ts'
import { createLink } from './links.ts'
import { setRole } from './members.ts'
import { PLACEHOLDER_EMAIL, createUser, findCredentials } from './users.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'

/**
 * Creates an operator if there is none, as the owner of a business that was just created. Returns the token of a new
 * link on each call until the operator has opened one and chosen an address, then undefined.
 */
export async function ensureOperator(sql: Sql, businessId: string | undefined): Promise<string | undefined> {
  return inTransaction(sql, async (tx) => {
    const [operator] = await tx`select from users where is_operator limit 1`
    if (operator === undefined) {
      const userId = await createUser(tx, { email: PLACEHOLDER_EMAIL, isOperator: true })
      if (userId !== null) {
        const entry = { businessId: null, actor: commandActor('start'), action: 'person.create', target: userId }
        await recordAudit(tx, { ...entry, details: { email: PLACEHOLDER_EMAIL, isOperator: true } })
        if (businessId !== undefined) await setRole(tx, businessId, userId, 'owner')
      }
    }
    const waiting = await findCredentials(tx, PLACEHOLDER_EMAIL)
    return waiting === null ? undefined : createLink(tx, 'sign-in', PLACEHOLDER_EMAIL)
  })
}
