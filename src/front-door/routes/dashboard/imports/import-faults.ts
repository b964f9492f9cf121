/** Rows of an import that are left out or rejected, with what a person needs to correct them in a file and import them again. */
import { type Static, Type } from '@sinclair/typebox'
import type { ErrorCode, Issue } from '../../../../errors.ts'
import type { FaultCode } from '../../../../rules/faults.ts'
import type { Rejection } from '../../../http/rejection.ts'
import { closed, count, issueList, orNull } from '../../reply-fields.ts'

export const Faults = Type.Array(
  Type.Object(
    {
      row: count,
      error: Type.String({ description: 'In English.' }),
      issues: issueList,
      source: Type.Array(Type.String(), { description: 'The cells of the row; of NDJSON its line.' }),
      eventKey: orNull(
        Type.String({
          description: 'The event of the row is recorded, under this idempotency key: only its opt-in is refused.',
        }),
      ),
    },
    closed,
  ),
)

/** An issue with the code of the field, or of the whole row. */
export type RowIssue = Omit<Issue, 'code'> & { code?: FaultCode | ErrorCode }

export interface RowFault {
  row: number
  error: string
  issues: readonly RowIssue[]
}

export const rowFault = (row: number, fault: Issue): RowFault => ({ row, error: fault.message, issues: [fault] })

/**
 * Returns one fault per row, in order of the rows. `keys`: idempotency keys of the rows whose events are recorded.
 * `firstRow`: the number of `sources[0]`.
 */
export function describeFaults(
  faults: readonly RowFault[],
  { sources, firstRow, keys }: { sources: string[][]; firstRow: number; keys: ReadonlyMap<number, string> },
): Static<typeof Faults> {
  return [...Map.groupBy(faults, ({ row }) => row)]
    .toSorted(([a], [b]) => a - b)
    .map(([row, ofRow]) => ({
      row,
      error: ofRow.map(({ error }) => error).join('; '),
      issues: ofRow.every(({ issues }) => issues.length > 0) ? ofRow.flatMap(({ issues }) => issues) : [],
      source: sources[row - firstRow] ?? [],
      eventKey: keys.get(row) ?? null,
    }))
}

export const leftOut = Type.Integer({ minimum: 0, description: 'Rows without a time, with `withoutTime: skip`.' })

/**
 * Returns issues that all have a code, which a page needs to show them in its language. If one has none, returns only
 * the code of the whole row.
 */
export const issuesOf = ({ code, message, issues }: Rejection): readonly RowIssue[] =>
  issues?.every((issue) => issue.code !== undefined) ? issues : [{ path: '', message, code }]

export const ofOptIn = ({ row, error, issues }: RowFault): RowFault => ({
  row,
  error: `opt-in: ${error}`,
  issues: issues.map((issue) => ({ ...issue, path: issue.path === '' ? 'opt-in' : `opt-in: ${issue.path}` })),
})
