/** Number of contacts at each step of a funnel, the time between steps, and the contacts who drop out. */
import { type FunnelQuery, funnelParams, funnelSql } from './funnel-sql.ts'
import type { ReadRows } from './read-rows.ts'

export interface FunnelStep {
  /** Contacts who got this far. */
  contacts: number
  /** Share of those who did the first step; null if there are none. */
  conversion: number | null
  /** Share of those who did the previous step; null if there are none. */
  stepConversion: number | null
  /** Contacts who did not do the next step. */
  dropped: number
  /** Time from the previous step; null for the first step, and without contacts. */
  medianSeconds: number | null
}

/** Rejects with QueryFault. */
export async function readFunnel(read: ReadRows, businessId: string, query: FunnelQuery): Promise<FunnelStep[]> {
  const numbers = query.steps.map((_, place) => place + 1)
  const [row] = await read<{ reached: number[]; medians: (number | null)[] }>(
    `select [${numbers.map((step) => `countIf(length(done) >= ${step})`).join(', ')}] as reached,
      [${numbers.slice(1).map(medianSql).join(', ')}] as medians
    from (${funnelSql(query)})`,
    { business: businessId, ...funnelParams(query) },
  )
  const reached = row?.reached ?? numbers.map(() => 0)
  const [first = 0] = reached
  return reached.map((contacts, place) => {
    const before = place === 0 ? contacts : (reached[place - 1] ?? 0)
    const median = place === 0 || contacts === 0 ? null : (row?.medians[place - 1] ?? null)
    return {
      contacts,
      conversion: shareOf(contacts, first),
      stepConversion: shareOf(contacts, before),
      dropped: place + 1 < reached.length ? contacts - (reached[place + 1] ?? 0) : 0,
      medianSeconds: median === null ? null : median / 1000,
    }
  })
}

/** For an even number, the mean of the two middle values. */
const medianSql = (step: number): string =>
  `quantileExactInclusiveIf(0.5)(done[${step}] - done[${step - 1}], length(done) >= ${step})`

export const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)

export interface FunnelContactsQuery {
  /** From 1. */
  step: number
  /** `reached`: everyone who did it. `dropped`: those of them who did not do the next one. */
  outcome: 'reached' | 'dropped'
  limit: number
  /** Last contact of the previous page. */
  before?: { at: number; id: string }
}

/** Newest first; one more than the limit if there are more. Rejects with QueryFault. */
export async function readFunnelContacts(
  read: ReadRows,
  businessId: string,
  query: FunnelQuery,
  { step, outcome, limit, before }: FunnelContactsQuery,
): Promise<{ id: string; at: number }[]> {
  const later = before ? 'and (at < {at: Int64} or (at = {at: Int64} and id < {id: String}))' : ''
  return await read(
    `select toString(contact_id) as id, done[${step}] as at
    from (${funnelSql(query)})
    where length(done) ${outcome === 'dropped' ? '=' : '>='} ${step} ${later}
    order by at desc, id desc
    limit {rows: UInt32}`,
    { business: businessId, ...funnelParams(query), rows: limit + 1, ...before },
  )
}
