/** Save: one call of `save_changes`, which is one transaction; it moves the partition's position together with the effects. */
import type { Changes } from '../rules/changes.ts'
import type { State } from '../rules/state.ts'
import type { Sql } from '../stores/postgres.ts'
import type { DeadLetterRecord } from '../stream/compose-dead-letter.ts'
import { recordsOf } from './change-records.ts'
import { arrayLiteral, writeColumns } from './write-columns.ts'

export interface Save {
  partition: string
  epoch: number
  from: string
  to: string
  /** Kept with the position: which attempt it was that committed. */
  attempt: string
  dryRun: boolean
  state: State
  changes: Changes
  deadLetters: DeadLetterRecord[]
  /** Dead letters that this save applies. */
  replayed: string[]
}

/** The SQLSTATE of a dry run that would have been written. */
export const DRY_RUN = 'SL003'

/**
 * True: written. False: the position was not `from` at this epoch, nothing is written.
 * Throws the faults that `faultKind` sorts; a dry run that would have gone through throws DRY_RUN.
 */
export async function saveChanges(sql: Sql, save: Save): Promise<boolean> {
  const records = recordsOf(save.state, save.changes)
  const [row] = await sql<[{ saved: boolean }]>`
    select save_changes(
      ${save.partition}, ${save.epoch}, ${save.from}, ${save.to}, ${save.attempt}, ${save.dryRun},
      ${JSON.stringify(records.businesses)}::text::json, ${list(records.newFields)}::text::json,
      ${arrayLiteral(records.people.map(({ businessId }) => businessId))}::text::uuid[],
      ${arrayLiteral(records.people.map(({ id }) => id))}::text::uuid[],
      ${writeColumns(records.assumedContacts)}::text::text[],
      ${writeColumns(records.contacts)}::text::text[],
      ${list(records.released)}::text::json,
      ${list(records.endedEnrolments)}::text::json, ${writeColumns(records.merges)}::text::text[],
      ${list(records.keptIdentities)}::text::json, ${writeColumns(records.newIdentities)}::text::text[],
      ${writeColumns(records.statistics)}::text::text[], ${writeColumns(records.revenue)}::text::text[],
      ${writeColumns(records.keys)}::text::text[], ${list(records.visitors)}::text::json,
      ${list(records.visitorLinks)}::text::json, ${list(records.visitorEvents)}::text::json,
      ${list(records.sightings)}::text::json, ${list(records.listedVisitors)}::text::json, ${list(records.identifications)}::text::json,
      ${list(records.newEnrolments)}::text::json, ${list(records.subscriptions)}::text::json,
      ${list(records.mergeLog)}::text::json, ${records.events}, ${save.changes.events.length},
      ${arrayLiteral(records.changed)}::text::boolean[],
      ${list(save.deadLetters)}::text::json, ${list(save.replayed)}::text::json,
      ${list(records.erasures)}::text::json, ${list(records.deliveries)}::text::json
    ) as saved`
  return row.saved
}

/** An empty list is null, so that its statement is skipped. */
const list = (rows: unknown[]) => (rows.length === 0 ? null : JSON.stringify(rows))
