/** How many enrolments of a branch are answered at once: fewer when its rule takes too long for many, down to one. */
const MOST = 500

export interface SetSizes {
  of(branch: string): number
  /** Returns false when a single one takes too long. */
  tookTooLong(branch: string): boolean
  /** `share`: of the time that a set may take. */
  answered(branch: string, share: number): void
}

export function createSetSizes(most = MOST): SetSizes {
  /** Of those that are answered in smaller sets. */
  const sizes = new Map<string, number>()
  const of = (branch: string): number => sizes.get(branch) ?? most
  return {
    of,
    tookTooLong(branch) {
      const size = of(branch)
      sizes.set(branch, Math.ceil(size / 2))
      return size > 1
    },
    answered(branch, share) {
      const size = of(branch)
      // Twice as many take half of the time.
      if (share > 0.25) return
      if (size * 2 >= most) sizes.delete(branch)
      else sizes.set(branch, size * 2)
    },
  }
}
