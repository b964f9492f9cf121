/** Warnings of the service about rows. */
import type { FileRow } from '../../imports/file-row.ts'
import { isKeyWarning } from '../../imports/key-warnings.ts'

export interface Warnings {
  /** The first ones. */
  shown: string[]
  count: number
  /** How many are about a key that an event of another name has. */
  ofKeys: number
}

export const noWarnings = (): Warnings => ({ shown: [], count: 0, ofKeys: 0 })

/** Number of warnings that a report shows. */
const SHOWN = 10

/**
 * Adds warnings about rows. `first`: index of `rows[0]` among the events. Replaces the item number, which the service
 * reports, by the row of the file.
 */
export function addWarnings(to: Warnings, rows: FileRow[], first: number, warnings: string[]): void {
  for (const warning of warnings) {
    to.count += 1
    if (isKeyWarning(warning)) to.ofKeys += 1
    if (to.shown.length < SHOWN) to.shown.push(withRow(warning, rows, first))
  }
}

const withRow = (warning: string, rows: FileRow[], first: number): string =>
  warning.replace(/^item (\d+)/, (item, index: string) => {
    const row = rows[Number(index) - first]
    return row ? `row ${row.number}` : item
  })

/** Lines for a report. The service reports a limited number of warnings of each request, so the counts are minima. */
export const describeWarnings = ({ shown, count, ofKeys }: Warnings): string[] => [
  ...shown.map((warning) => `  warning: ${warning}`),
  ...(count > shown.length ? [`  … and at least ${count - shown.length} more warnings`] : []),
  ...(ofKeys > 0 ? [`Rows with the key of an event of another name, not recorded: at least ${ofKeys}. ${ADVICE}`] : []),
]

const ADVICE =
  'If they are events of their own, such as refunds of orders, leave out --map idempotencyKey, or map a column with a key of their own'
