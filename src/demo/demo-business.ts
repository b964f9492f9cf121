/** Which business gets the demo. */
import type { Actor } from '../audit/audit.ts'
import { addBusiness, listBusinesses, readBusiness } from '../businesses/businesses.ts'
import type { ErrorCode } from '../errors.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { DEMO_PREFIX } from './compose-demo.ts'

/** Of a business that is created for the demo. */
export const DEMO_NAME = 'Demo school'

/**
 * Returns why the demo is not loaded into the business. Null: it is active and has only demo people. Then loading is
 * safe, and loading again completes an interrupted load: each event has an idempotency key.
 */
export async function demoRefusal(
  sql: Queryable,
  { businessId, active }: { businessId: string; active: boolean },
): Promise<Extract<ErrorCode, 'business_inactive' | 'business_not_empty'> | null> {
  if (!active) return 'business_inactive'
  const [other] = await sql`
    select from contacts c where c.business_id = ${businessId} and c.merged_into is null and not exists (
      select from identities i where i.business_id = c.business_id and i.contact_id = c.id
        and i.kind = 'platformCustomerId' and starts_with(i.value, ${DEMO_PREFIX}))
    limit 1`
  return other === undefined ? null : 'business_not_empty'
}

export interface DemoBusiness {
  businessId: string
  name: string
}

/**
 * Returns the business that was chosen last, or the only one, if the demo may be loaded into it. Else a new one. Two
 * runs at once choose the same.
 */
export function chooseDemoBusiness(sql: Sql, actor: Actor): Promise<DemoBusiness> {
  return inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('sluice demo'))`
    const [former] = await tx<{ id: string }[]>`select id from businesses where demo`
    const known = former && (await readBusiness(tx, former.id))
    const all = await listBusinesses(tx)
    for (const one of [...(known ? [known] : []), ...(all.length === 1 ? all : [])])
      if ((await demoRefusal(tx, one)) === null) return choose(tx, one)
    const name = freeName(new Set(all.map(({ name }) => name)))
    return choose(tx, { businessId: await addBusiness(tx, actor, { name }), name })
  })
}

/** Returns a name that no business has, such as “Demo school 2”. */
function freeName(taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? DEMO_NAME : `${DEMO_NAME} ${number}`
    if (!taken.has(name)) return name
  }
}

async function choose(tx: Queryable, { businessId, name }: DemoBusiness): Promise<DemoBusiness> {
  await tx`update businesses set demo = false where demo and id <> ${businessId}`
  await tx`update businesses set demo = true where not demo and id = ${businessId}`
  return { businessId, name }
}
