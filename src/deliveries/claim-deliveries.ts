import { randomUUID } from 'node:crypto'
import type { Sql } from '../stores/postgres.ts'
import type { Conversion } from './conversion.ts'
import type { DestinationKind } from './settings.ts'

/** A delivery that is ours to send until its claim runs out. */
export interface Claimed {
  claim: string
  businessId: string
  id: string
  /** This one included. */
  attempts: number
  destination: { id: string; kind: DestinationKind; settings: object; secret: string }
  conversion: Conversion
}

export interface ClaimLimits {
  /** How many at once. */
  max: number
  /** To one destination at a time, by all senders together. */
  perDestination: number
  leaseMs: number
}

/**
 * What is due and nobody is sending. A claim that is not settled within `leaseMs` is anybody's again: a sender that died
 * in the middle is repeated, and the platform tells by the event's id that it has it.
 */
export async function claimDeliveries(sql: Sql, { max, perDestination, leaseMs }: ClaimLimits): Promise<Claimed[]> {
  const claim = randomUUID()
  const [row] = await sql<[{ claimed: Omit<Claimed, 'claim'>[] }]>`
    select claim_deliveries(${claim}, ${max}, ${perDestination}, ${leaseMs}) as claimed`
  return row.claimed.map((claimed) => ({ ...claimed, claim }))
}
