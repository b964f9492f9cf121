/** The rows of a file that are refused. */

/** That many are kept to be shown and downloaded, with that much of their rows. */
export const MAX_FAULTS = 10_000
const MAX_FAULT_CHARACTERS = 50 * 1024 * 1024

export interface Fault {
  row: number
  error: string
  /** The cells of the row; of NDJSON its line. */
  source: string[]
  /** The idempotency key of its event, when that is recorded. */
  eventKey: string | null
}

export interface Faults {
  faults: Fault[]
  faultCount: number
  /** Of the rows that are kept. */
  faultCharacters: number
}

export const noFaults = (): Faults => ({ faults: [], faultCount: 0, faultCharacters: 0 })

/** The first ones without a gap: once one is left out, so are all after it. */
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
