import { randomUUID } from 'node:crypto'
import type { Sql } from '../stores/postgres.ts'
import type { Conversion } from './conversion.ts'
import type { DestinationKind } from './settings.ts'

/** A delivery that only this process may send until its claim expires. */
export interface ClaimedDelivery {
  claim: string
  businessId: string
  id: string
  /** Number of attempts, including the current one. */
  attempts: number
  destination: { id: string; kind: DestinationKind; settings: object; secret: string }
  conversion: Conversion
}

export interface ClaimLimits {
  /** Maximum number of deliveries to claim. */
  max: number
  /** Maximum number in flight to one destination, over all senders. */
  perDestination: number
  leaseMs: number
}

/**
 * Claims due deliveries that no sender has claimed. After `leaseMs` without a recorded outcome, another sender may
 * claim the delivery. So a delivery is sent again if its sender dies during an attempt; the platform recognises the
 * event's id.
 */
export async function claimDeliveries(
  sql: Sql,
  { max, perDestination, leaseMs }: ClaimLimits,
): Promise<ClaimedDelivery[]> {
  const claim = randomUUID()
  const [row] = await sql<[{ claimed: Omit<ClaimedDelivery, 'claim'>[] }]>`
    select claim_deliveries(${claim}, ${max}, ${perDestination}, ${leaseMs}) as claimed`
  return row.claimed.map((claimed) => ({ ...claimed, claim }))
}
