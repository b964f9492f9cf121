import { type Change, recordAudit } from '../audit/audit.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { findUses } from './find-uses.ts'
import { lockBusiness } from './load-definitions.ts'

/** `in_use`: the segments and campaigns that use it. */
export type DeleteOutcome = { kind: 'deleted' } | { kind: 'not_found' } | { kind: 'in_use'; names: string[] }

/**
 * Deletes a segment. Its rules are retired: saves no longer evaluate them, and the rows of their members are deleted
 * later.
 */
export async function deleteSegment(
  sql: Sql,
  { businessId, actor }: Change,
  segmentId: string,
): Promise<DeleteOutcome> {
  return await inTransaction(sql, async (tx) => {
    await lockBusiness(tx, businessId)
    const names = await findUses(tx, businessId, segmentId)
    if (names.length > 0) return { kind: 'in_use', names }
    const { count } = await tx`delete from segments where business_id = ${businessId} and id = ${segmentId}`
    if (count === 0) return { kind: 'not_found' }
    await tx`
      update segment_rules set state = 'retired', switched_at = null, replaces = null
      where business_id = ${businessId} and segment_id = ${segmentId} and state <> 'retired'`
    await tx`update businesses set config_version = config_version + 1 where id = ${businessId}`
    await recordAudit(tx, { businessId, actor, action: 'segment.delete', target: segmentId })
    return { kind: 'deleted' }
  })
}
