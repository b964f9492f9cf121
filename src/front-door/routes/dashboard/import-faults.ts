/** Rows of an import that are refused, with what is needed to mend them in a file and import them again. */
import { type Static, Type } from '@sinclair/typebox'
import { closed, count, orNull } from '../reply-fields.ts'

export const Faults = Type.Array(
  Type.Object(
    {
      row: count,
      error: Type.String(),
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

export interface RowFault {
  row: number
  error: string
}

/** By row, with one fault for each. `keys`: of the rows whose events are recorded. `firstRow`: the number of `sources[0]`. */
export function describeFaults(
  faults: readonly RowFault[],
  { sources, firstRow, keys }: { sources: string[][]; firstRow: number; keys: ReadonlyMap<number, string> },
): Static<typeof Faults> {
  return [...Map.groupBy(faults, ({ row }) => row)]
    .toSorted(([a], [b]) => a - b)
    .map(([row, ofRow]) => ({
      row,
      error: ofRow.map(({ error }) => error).join('; '),
      source: sources[row - firstRow] ?? [],
      eventKey: keys.get(row) ?? null,
    }))
}
