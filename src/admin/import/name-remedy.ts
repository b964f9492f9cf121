/** What the command says about a cell that cannot be read: also which option helps, or how the cell is written. */
import { placeFault } from '../../imports/map-row.ts'
import type { PreparedRow } from '../../imports/prepare-row.ts'
import { readIso } from '../../rules/events/read-iso.ts'
import { type Fault, faultOf } from '../../rules/faults.ts'
import { DECIMAL_SIGNS, readDecimal } from '../../rules/imports/read-decimal.ts'

/** Characters of a cell that a message shows. */
const SHOWN = 100

/**
 * Names the remedy in the fault of a row. A time that the service would refuse is a fault already here, because the
 * service's message does not show the cell.
 */
export function nameRemedy(prepared: PreparedRow): PreparedRow {
  if ('fault' in prepared) return { ...prepared, fault: withRemedy(prepared.fault) }
  const { occurredAt } = prepared.event
  if (typeof occurredAt !== 'string' || readIso(occurredAt) !== undefined) return prepared
  const fault = placeFault(faultOf('', 'cell_date', { sent: occurredAt.slice(0, SHOWN) }), 'occurredAt')
  return { row: prepared.row, fault: withRemedy(fault) }
}

function withRemedy(fault: Fault): Fault {
  const remedy = remedyOf(fault)
  return remedy === undefined ? fault : { ...fault, message: `${fault.message}. ${remedy}` }
}

function remedyOf({ code, values }: Fault): string | undefined {
  switch (code) {
    case 'cell_two_ways':
      return 'On the command line: --decimal comma or --decimal point'
    case 'cell_number':
      return remedyOfNumber(String(values?.['sent']))
    case 'cell_no_time':
      return 'To leave them out: --without-time skip'
    case 'cell_date':
      return 'Write it like 2026-10-01T12:00:00Z'
    default:
      return undefined
  }
}

/** Names the sign with which the cell would be a number. */
function remedyOfNumber(cell: string): string | undefined {
  const sign = DECIMAL_SIGNS.find((decimal) => 'number' in readDecimal(cell, { decimal }))
  return sign && `If a ${sign} separates decimals in the file: --decimal ${sign}`
}
