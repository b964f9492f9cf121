/** Converts the rows of a file to events of requests. */
import type { FileRow } from '../../imports/file-row.ts'
import { type PreparedRow, type RowRules, prepareRow } from '../../imports/prepare-row.ts'
import { hashRow } from '../../imports/row-keys.ts'
import { CommandError } from '../command.ts'
import { nameRemedy } from './name-remedy.ts'
import { createFingerprint, createNumbering, type Survey } from './number-rows.ts'

export interface Plan extends RowRules {
  survey: Survey
}

/** The file has changed since the survey read it: equal rows could have got the same key. */
export class FileChangedError extends CommandError {
  constructor() {
    super('file_changed', 'The file changed while it was read. Run the same command again when the file is complete')
  }
}

/**
 * Yields each row with its event, in order. Must see every row from the first on, because otherwise the keys would be
 * wrong. Throws FileChangedError at the end if the file has changed.
 */
export async function* prepareRows(plan: Plan, rows: AsyncIterable<FileRow>): AsyncGenerator<PreparedRow> {
  const numberOf = createNumbering(plan.survey.repeated)
  const fingerprint = createFingerprint()
  for await (const row of rows) {
    const hash = hashRow(row)
    fingerprint.add(hash)
    yield nameRemedy(prepareRow(plan, row, hash, numberOf(hash)))
  }
  if (fingerprint.digest() !== plan.survey.fingerprint) throw new FileChangedError()
}
