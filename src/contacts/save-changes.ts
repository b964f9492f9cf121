/** Save: one call of `save_changes`, which is one transaction; it moves the partition's position together with the effects. */
import type { Changes } from '../rules/changes.ts'
import type { State } from '../rules/state.ts'
import type { Sql } from '../stores/postgres.ts'
import type { DeadLetterRecord } from '../stream/compose-dead-letter.ts'
import { recordsOf } from './change-records.ts'
import { arrayLiteral, writeColumns, writeRecords } from './write-columns.ts'

export interface Save {
  partition: string
  epoch: number
  from: string
  to: string
  /** Kept with the position: which attempt it was that committed. */
  attempt: string
  dryRun: boolean
  state: State
  /** Its idempotency keys were taken to be new: see `loadState`. */
  keysUnasked: boolean
  changes: Changes
  deadLetters: DeadLetterRecord[]
  /** Dead letters that this save applies. */
  replayed: string[]
}

/**
 * `elsewhere`: the position was not `from` at this epoch. `known key`: one that was taken to be new is not. Nothing is
 * written in either case.
 */
export type Saved = 'written' | 'elsewhere' | 'known key'

/**
 * So few keys that were taken to be new are looked for before anything is written. Of more, one that was not is a unique
 * violation, a line in Postgres' log, and a save for nothing, once in 65 at most: looking for each costs as much as recording it.
 */
const FEW_KEYS = 8

/** The SQLSTATE of a dry run that would have been written. */
export const DRY_RUN = 'SL003'

/** Throws the faults that `faultKind` sorts; a dry run that would have gone through throws DRY_RUN. */
export async function saveChanges(sql: Sql, save: Save): Promise<Saved> {
  const records = recordsOf(save.state, save.changes)
  const [row] = await sql<[{ saved: boolean | null }]>`
    select save_changes(
      ${save.partition}, ${save.epoch}, ${save.from}, ${save.to}, ${save.attempt}, ${save.dryRun},
      ${writeColumns(records.businesses)}::text::text[], ${writeRecords(records.newFields)}::text::json,
      ${arrayLiteral(records.people.map(({ businessId }) => businessId))}::text::uuid[],
      ${arrayLiteral(records.people.map(({ id }) => id))}::text::uuid[],
      ${writeColumns(records.assumedContacts)}::text::text[],
      ${writeColumns(records.contacts)}::text::text[],
      ${writeRecords(records.released)}::text::json,
      ${writeRecords(records.endedEnrolments)}::text::json, ${writeColumns(records.merges)}::text::text[],
      ${writeRecords(records.keptIdentities)}::text::json, ${writeColumns(records.newIdentities)}::text::text[],
      ${writeColumns(records.statistics)}::text::text[], ${writeColumns(records.revenue)}::text::text[],
      ${writeColumns(records.keys)}::text::text[], ${save.keysUnasked && records.keys.length <= FEW_KEYS}, ${writeRecords(records.visitors)}::text::json,
      ${writeRecords(records.visitorLinks)}::text::json, ${writeRecords(records.linkSteps)}::text::json, ${writeRecords(records.visitorEvents)}::text::json,
      ${writeRecords(records.sightings)}::text::json, ${writeRecords(records.listedVisitors)}::text::json, ${writeRecords(records.identifications)}::text::json,
      ${writeRecords(records.newEnrolments)}::text::json, ${writeRecords(records.subscriptions)}::text::json,
      ${writeRecords(records.mergeLog)}::text::json, ${records.events}, ${save.changes.events.length},
      ${arrayLiteral(records.changed)}::text::boolean[],
      ${writeRecords(save.deadLetters)}::text::json, ${writeRecords(save.replayed)}::text::json,
      ${writeRecords(records.erasures)}::text::json, ${writeRecords(records.deliveries)}::text::json,
      ${writeRecords(records.edits)}::text::json
    ) as saved`
  if (row.saved === null) return 'known key'
  return row.saved ? 'written' : 'elsewhere'
}
