/** Finds what spoils a whole, in order. Pure but for the question. */

export interface OrderedSearch<Unit> {
  /** Why these do not pass together, in the order of `units`; null when they do, as none at all always do. */
  faultOf: (some: Unit[]) => Promise<string | null>
  /** No more questions are to be asked. */
  isLate: () => boolean
}

/**
 * The units without which the others pass, each with the reason: every one of them fails together with those before it that
 * pass. What has passed is not looked at again, and neighbours cost one question each. When it gets late, everything from the
 * first unit that has not passed is taken to be poisoned.
 *
 * @param fault why all of them together do not pass. The last one is the first suspect.
 */
export async function searchInOrder<Unit>(
  units: Unit[],
  fault: string,
  { faultOf, isLate }: OrderedSearch<Unit>,
): Promise<Map<Unit, string>> {
  const poisoned = new Map<Unit, string>()
  const faultUpTo = (end: number) => faultOf(units.slice(0, end).filter((unit) => !poisoned.has(unit)))
  const condemn = (from: number, to: number, reason: string): void => {
    for (const unit of units.slice(from, to)) poisoned.set(unit, reason)
  }
  // Those before `passing` pass together, but for the poisoned; those before `failing` do not.
  let passing = 0
  let failing = units.length
  let reason = fault
  let middle = failing - 1
  while (passing < units.length) {
    while (failing - passing > 1) {
      if (isLate()) {
        condemn(passing, units.length, reason)
        return poisoned
      }
      const found = await faultUpTo(middle)
      if (found === null) passing = middle
      else {
        failing = middle
        reason = found
      }
      middle = Math.floor((passing + failing) / 2)
    }
    condemn(passing, failing, reason)
    passing = failing
    // Mostly it is one alone. If not, the next is likely to be near.
    let step = poisoned.size === 1 ? units.length : 1
    for (let found: string | null = null; found === null && passing < units.length; step *= 2) {
      // Whether there are more is not known: the next attempt finds out.
      if (isLate()) return poisoned
      failing = Math.min(passing + step, units.length)
      found = await faultUpTo(failing)
      if (found === null) passing = failing
      else reason = found
    }
    middle = Math.floor((passing + failing) / 2)
  }
  return poisoned
}
