/** The reason why the timeline is not shipped, stored where every front door can see it. */
import type { Sql } from '../../stores/postgres.ts'
import { isFullDiskError } from '../../stores/full-disk.ts'
import { describeFault } from '../../stores/insert-lines.ts'
import type { Lease } from '../lease.ts'
import type { TimelineMetrics } from './observe-outbox.ts'

export interface ShippingStatusDeps {
  sql: Sql
  metrics?: TimelineMetrics
  /** Called after every round with a description of the failure, or with undefined. */
  onTrouble?: (trouble: string | undefined) => void
}

export interface ShippingStatus {
  failed(error: unknown): Promise<void>
  /**
   * Clears the failure that this owner, or an earlier one, reported in Postgres. Rejects when Postgres is away: then
   * the failure stays.
   */
  succeeded(): Promise<void>
  /**
   * Reports nothing and clears nothing in Postgres: there is no failure, or another process ships and reports its own
   * status.
   */
  none(): void
}

export function reportShippingFailure(
  { sql, metrics, onTrouble }: ShippingStatusDeps,
  { owner }: Lease,
): ShippingStatus {
  let since: Date | undefined
  const none = (): void => {
    since = undefined
    onTrouble?.(undefined)
  }
  return {
    none,
    async failed(error) {
      since ??= new Date()
      const reason = describeFault(error)
      metrics?.timelineFailures?.inc({ cause: failureCause(error) })
      onTrouble?.(describeTrouble({ reason, since }))
      await sql`
        update timeline_lease set trouble = ${reason}, trouble_since = coalesce(trouble_since, ${since})
        where owner = ${owner} and trouble is distinct from ${reason}`
    },
    async succeeded() {
      none()
      await sql`
        update timeline_lease set trouble = null, trouble_since = null
        where owner = ${owner} and trouble is not null`
    },
  }
}

export const failureCause = (error: unknown): 'disk_full' | 'other' => (isFullDiskError(error) ? 'disk_full' : 'other')

/** Describes the failure that the owner of the lease reported; undefined when there is none. */
export async function readShippingFailure(sql: Sql): Promise<string | undefined> {
  const [failure] = await sql<{ reason: string; since: Date }[]>`
    select trouble as reason, trouble_since as since from timeline_lease where trouble is not null`
  return failure && describeTrouble(failure)
}

const describeTrouble = ({ reason, since }: { reason: string; since: Date }): string =>
  `timeline: not shipped since ${since.toISOString()}: ${reason}`
