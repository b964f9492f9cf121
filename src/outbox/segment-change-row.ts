/** A change of membership on its way from the save to ClickHouse, and from there to the API. */

import type { Cause } from '../rules/segments/membership/cause.ts'

export { CAUSES, type Cause } from '../rules/segments/membership/cause.ts'

/** A row of the ClickHouse table `segment_changes`, and a JSON line of `outbox.segment_changes`. */
export interface SegmentChangeRow {
  business_id: string
  segment_id: string
  /** The contact at the time of the change; a merge does not change it. */
  contact_id: string
  /** UUID, version 7: later changes have greater ids. */
  change_id: string
  /** Epoch ms. */
  at_ms: number
  entered: 0 | 1
  cause: Cause
}
