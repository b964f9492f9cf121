/** Finds who was known in each browser, and since when. */
import { latestStart } from '../../rules/visitors/link-visitor.ts'
import type { Sql } from '../../stores/postgres.ts'

/** Instants are epoch milliseconds. */
export interface Holder {
  fromAt: number
  /** Null: nobody who still exists. */
  contactId: string | null
  identifiedAt: number
}

/** By visitor, in order of time. */
export type Holders = ReadonlyMap<string, readonly Holder[]>

/** Visitors in one statement. */
const CHUNK = 1000

export async function loadHolders(sql: Sql, businessId: string, visitorIds: readonly string[]): Promise<Holders> {
  const holders = new Map<string, Holder[]>()
  for (let at = 0; at < visitorIds.length; at += CHUNK) {
    const asked = JSON.stringify(visitorIds.slice(at, at + CHUNK))
    const rows = await sql<(Holder & { visitorId: string })[]>`
      select l.visitor_id as "visitorId", l.from_at as "fromAt", l.contact_id as "contactId",
        coalesce(l.identified_at, l.from_at) as "identifiedAt"
      from json_array_elements_text(${asked}::text::json) as asked (id)
      join visitor_links l on l.business_id = ${businessId} and l.visitor_id = asked.id collate "C"
      order by l.visitor_id, l.from_at`
    for (const { visitorId, ...holder } of rows) {
      const known = holders.get(visitorId)
      if (known) known.push(holder)
      else holders.set(visitorId, [holder])
    }
  }
  return holders
}

/** Decides as saves do. Undefined: nobody is known to have been identified in the browser. */
export const holderOf = (holders: Holders, visitorId: string, at: number): Holder | undefined =>
  holders.get(visitorId)?.findLast(({ fromAt }) => fromAt <= latestStart(at))

/** Events that a page sent before its browser was identified lie in the past: they count, and trigger nothing. */
export function wasKnown(holders: Holders, visitorId: string, { at, receivedAt }: { at: number; receivedAt: number }) {
  const holder = holderOf(holders, visitorId, at)
  return holder === undefined || (holder.identifiedAt <= latestStart(at) && holder.identifiedAt <= receivedAt)
}
