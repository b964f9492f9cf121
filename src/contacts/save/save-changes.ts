/**
 * Saves with one call of `save_changes`, which is one transaction. It moves the partition's position together with the
 * effects.
 */
import type { Changes } from '../../rules/changes.ts'
import type { State } from '../../rules/state.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { DeadLetterRecord } from '../../stream/compose-dead-letter.ts'
import { recordsOf } from './change-records.ts'
import { callSaveChanges } from './save-parameters.ts'
import { arrayLiteral, writeRecords } from '../../stores/write-columns.ts'

export interface SaveRequest {
  /** Null: no position is moved. */
  partition: string | null
  epoch: number
  from: string
  to: string
  /** Id of the attempt. The committed one is stored with the position. */
  attempt: string
  dryRun: boolean
  state: State
  /** True when its idempotency keys were assumed to be new: see `loadState`. */
  keysAssumedNew: boolean
  changes: Changes
  deadLetters: DeadLetterRecord[]
  /** True when the entries were applied before, in commits that a failover of Postgres has lost. */
  repeated?: boolean
  /** Ids of the dead letters that this save applies. */
  replayed: string[]
}

/**
 * `elsewhere`: the position was not `from` at this epoch. `known key`: a key that was assumed to be new exists. Nothing
 * is written in either case.
 */
export type SaveResult = 'written' | 'elsewhere' | 'known key'

/**
 * Up to this number, keys that are assumed to be new are looked up before anything is written. With more keys, a known
 * key causes a unique violation: a line in Postgres' log and a wasted save, at most one in 65. Looking up each key
 * would cost as much as recording it.
 */
const FEW_KEYS = 8

/** The SQLSTATE of a dry run that would have succeeded. */
export const DRY_RUN = 'SL003'

/** Throws errors that `faultKind` classifies. A dry run that would succeed throws DRY_RUN. */
export async function saveChanges(sql: Sql, save: SaveRequest): Promise<SaveResult> {
  const records = recordsOf(save.state, save.changes)
  const saved = await callSaveChanges(sql, {
    partition: save.partition,
    epoch: save.epoch,
    from: save.from,
    to: save.to,
    attempt: save.attempt,
    dry_run: save.dryRun,
    contact_businesses: arrayLiteral(records.people.map(({ businessId }) => businessId)),
    contact_ids: arrayLiteral(records.people.map(({ id }) => id)),
    changed: arrayLiteral(records.changed),
    ...records.lists,
    keys_unasked: save.keysAssumedNew && records.keyCount <= FEW_KEYS,
    events: records.events,
    event_count: save.changes.events.length,
    dead_letters: writeRecords(save.deadLetters),
    replayed: writeRecords(save.replayed),
    repeated: save.repeated === true,
  })
  if (saved === null) return 'known key'
  return saved ? 'written' : 'elsewhere'
}
