/** The changes of a micro-batch to browsers and their contacts. */
import type { VisitorState } from '../state.ts'

/** A browser that now belongs to another contact. */
export interface VisitorChange {
  businessId: string
  visitorId: string
  /** Its state after the micro-batch. */
  visitor: VisitorState
  /** Its contact in Postgres, as it was loaded. */
  assumedContactId: string | null
  /** The first contact that it was linked to in this batch. */
  contactId: string | null
  linkedAt: number
  /**
   * The contact that receives the browser's events stored in Postgres, the number of these events, and whether orders
   * among them count.
   */
  joinedContactId: string | null
  joinedCount: number
  joinedOrders: boolean
}

/**
 * A change to links that are already in Postgres. Links of this batch are written in their final state.
 *
 * `waits: true`: the contact's links wait from now on, except for the browser that the call names (`named`).
 *
 * `waits: false`: the waiting links of the browser become links of the contact, and `newest` was confirmed at
 * `identifiedAt`.
 */
export type LinkStep =
  | { businessId: string; contactId: string; waits: true; named: string | null }
  | {
      businessId: string
      contactId: string
      waits: false
      visitorId: string
      newest: { fromAt: number; identifiedAt: number } | null
    }
