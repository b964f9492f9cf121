import type { CallTo } from '../rules/calls/call.ts'
import type { Queryable } from '../stores/postgres.ts'

/** Returns the contact of a call, which may have been merged. Null: there is none. An address counts when it is proven. */
export async function findCallContact(sql: Queryable, businessId: string, to: CallTo): Promise<string | null> {
  if (to.kind === 'contactId') return to.value
  const [found] = await sql<{ contactId: string }[]>`
    select contact_id as "contactId" from identities
    where business_id = ${businessId} and kind = ${to.kind} and value = ${to.value} and (proven or kind = 'platformCustomerId')`
  return found?.contactId ?? null
}
