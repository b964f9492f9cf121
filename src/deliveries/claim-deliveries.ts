import { randomUUID } from 'node:crypto'
import type { Sql } from '../stores/postgres.ts'
import type { Conversion } from './conversion.ts'
import type { DestinationKind } from './settings.ts'

/** A delivery that this process may send until its claim expires. */
export interface ClaimedDelivery {
  claim: string
  businessId: string
  id: string
  /** Including the current attempt. */
  attempts: number
  destination: { id: string; kind: DestinationKind; settings: object; secret: string }
  conversion: Conversion
}

export interface ClaimLimits {
  /** The most deliveries to claim. */
  max: number
  /** The most in flight to one destination, for all senders together. */
  perDestination: number
  leaseMs: number
}

/**
 * Claims deliveries that are due and that no sender has claimed. After `leaseMs` without a recorded outcome, another sender may
 * claim the delivery. So if a sender dies during an attempt, the delivery is sent again; the platform recognises the event's id.
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
