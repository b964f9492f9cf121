/**
 * Number of enrolments of a branch that are answered at once. It shrinks, down to one, when a set takes too long or
 * ClickHouse lacks the memory for it.
 */
const MOST = 500

export interface SetSizes {
  of(branch: string): number
  /** `many`: size of the set that failed. Returns false when the set cannot be smaller. */
  failed(branch: string, many: number): boolean
  /** `share`: the share of the time limit that the set took. */
  answered(branch: string, set: { many: number; share: number }): void
}

export function createSetSizes(most = MOST): SetSizes {
  /** Branches that are answered in smaller sets. */
  const sizes = new Map<string, number>()
  const of = (branch: string): number => sizes.get(branch) ?? most
  return {
    of,
    failed(branch, many) {
      if (many <= 1) return false
      sizes.set(branch, Math.ceil(many / 2))
      return true
    },
    answered(branch, { many, share }) {
      const size = of(branch)
      // A smaller set says nothing about a full one, and twice as many take half of the time.
      if (many < size || share > 0.25) return
      if (size * 2 >= most) sizes.delete(branch)
      else sizes.set(branch, size * 2)
    },
  }
}
