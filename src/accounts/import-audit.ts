/** Imports in the audit log. An entry is written before the first row is sent, and counts what became of the rows. */
import type { Queryable } from '../stores/postgres.ts'
import { type Actor, type Change, recordAttempt } from '../audit/audit.ts'

const ACTION = 'import.send'

interface Import {
  businessId: string
  actor: Actor
  /** The name of the file. */
  file: string
  fields: readonly string[]
  /** Number of rows in the file. */
  rows: number
}

/** What became of rows. */
export interface RowCounts {
  sent: number
  recorded: number
  /** Known already. */
  deduped: number
  /** Stored, and recorded later. */
  queued: number
  failed: number
}

/** Returns the id of the entry. */
export const beginImport = (sql: Queryable, { businessId, actor, ...details }: Import): Promise<number> =>
  recordAttempt(sql, { businessId, actor, action: ACTION, target: null, details })

/** Returns whether this person began the import. */
export async function hasBegun(
  sql: Queryable,
  { businessId, actor, importId }: Change & { importId: number },
): Promise<boolean> {
  const found = await sql`
    select from audit_log where id = ${importId} and business_id = ${businessId} and action = ${ACTION}
      and actor_kind = ${actor.kind} and actor_id = ${actor.id}`
  return found.length > 0
}

/**
 * Adds counts to the entry of an import. Rows that are sent again, because the answer was lost, are known already: they
 * do not count twice.
 * @param from number of rows of the file before these
 */
export async function countRows(sql: Queryable, importId: number, from: number, counts: RowCounts): Promise<void> {
  const { recorded, ...others } = counts
  await sql`
    update audit_log set details = details || (
      select jsonb_object_agg(name, coalesce((details->>name)::int, 0) + value::int)
      from jsonb_each_text(${JSON.stringify({ recorded })}::text::jsonb || case
        when coalesce((details->>'sent')::int, 0) <= ${from} then ${JSON.stringify(others)}::text::jsonb else '{}' end
      ) as added (name, value)
    )
    where id = ${importId}`
}
