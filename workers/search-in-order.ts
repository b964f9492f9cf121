/** Finds the units that make a sequence fail. Does no I/O except through `faultOf`. */

export interface OrderedSearch<Unit> {
  /**
   * Returns the reason why these units fail together, in the order of `units`; null when they pass. An empty list
   * always passes.
   */
  faultOf: (some: Unit[]) => Promise<string | null>
  /** Returns whether the time limit has passed, after which `faultOf` must not be called. */
  isLate: () => boolean
}

/**
 * Returns the units without which the others pass, each with the reason: each one fails together with the passing units
 * before it. This is a binary search that does not repeat what has passed; each adjacent poisoned unit costs one call.
 * After the time limit, everything from the first unit that has not passed counts as poisoned.
 *
 * @param fault the reason why all of them fail together. The last one is tried first.
 */
export async function searchInOrder<Unit>(
  units: Unit[],
  fault: string,
  { faultOf, isLate }: OrderedSearch<Unit>,
): Promise<Map<Unit, string>> {
  const poisoned = new Map<Unit, string>()
  const faultUpTo = (end: number) => faultOf(units.slice(0, end).filter((unit) => !poisoned.has(unit)))
  const markPoisoned = (from: number, to: number, reason: string): void => {
    for (const unit of units.slice(from, to)) poisoned.set(unit, reason)
  }
  // The units before `passing` pass together, except the poisoned ones; those before `failing` do not.
  let passing = 0
  let failing = units.length
  let reason = fault
  let middle = failing - 1
  while (passing < units.length) {
    while (failing - passing > 1) {
      if (isLate()) {
        markPoisoned(passing, units.length, reason)
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
    markPoisoned(passing, failing, reason)
    passing = failing
    // Usually there is only one. If not, the next one is probably near.
    let step = poisoned.size === 1 ? units.length : 1
    for (let found: string | null = null; found === null && passing < units.length; step *= 2) {
      // The next attempt finds any others.
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
