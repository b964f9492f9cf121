/**
 * How many enrolments of a branch are answered at once: fewer when they cannot be answered together, because that takes too long or
 * ClickHouse has not the memory for it; down to one.
 */
const MOST = 500

export interface SetSizes {
  of(branch: string): number
  /** `many`: were asked for together. Returns false when there cannot be fewer. */
  failed(branch: string, many: number): boolean
  /** `share`: of the time that a set may take. */
  answered(branch: string, set: { many: number; share: number }): void
}

export function createSetSizes(most = MOST): SetSizes {
  /** Of those that are answered in smaller sets. */
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
      // A smaller set says nothing of a full one, and twice as many take half of the time.
      if (many < size || share > 0.25) return
      if (size * 2 >= most) sizes.delete(branch)
      else sizes.set(branch, size * 2)
    },
  }
}
