/** The rejected rows of a file. */

/** Most rows that are kept for display and download, and most characters of them in total. */
export const MAX_FAULTS = 10_000
const MAX_FAULT_CHARACTERS = 50 * 1024 * 1024

export interface Fault {
  row: number
  error: string
  /** Cells of the row. For NDJSON, the line. */
  source: string[]
  /** Idempotency key of the row's event, if the event was recorded. */
  eventKey: string | null
}

export interface Faults {
  faults: Fault[]
  faultCount: number
  /** Characters of the rows that are kept. */
  faultCharacters: number
}

export const noFaults = (): Faults => ({ faults: [], faultCount: 0, faultCharacters: 0 })

/** Keeps the first faults without gaps: once one is omitted, so are all later ones. */
export function addFaults(to: Faults, faults: readonly Fault[]): void {
  for (const fault of faults) {
    const characters = fault.source.reduce((sum, cell) => sum + cell.length, 0)
    const isWhole = to.faults.length === to.faultCount
    to.faultCount += 1
    if (!isWhole || to.faults.length === MAX_FAULTS) continue
    if (to.faultCharacters + characters > MAX_FAULT_CHARACTERS) continue
    to.faults.push(fault)
    to.faultCharacters += characters
  }
}
