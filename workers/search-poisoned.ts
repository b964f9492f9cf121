/** Finds what spoils a whole. Pure but for the question. */

/**
 * The items without which the others pass, each with the reason: every one of them fails together with those before it that
 * pass. What has passed is not looked at again, and neighbours cost one question each.
 *
 * @param faultOf why these do not pass together, in the order of `items`; null when they do, as none at all always do
 */
export async function searchPoisoned<Item>(
  items: Item[],
  faultOf: (some: Item[]) => Promise<string | null>,
): Promise<Map<Item, string>> {
  const poisoned = new Map<Item, string>()
  const faultUpTo = (end: number) => faultOf(items.slice(0, end).filter((item) => !poisoned.has(item)))
  // Those before `passing` pass together, but for the poisoned.
  let passing = 0
  let step = items.length
  while (passing < items.length) {
    let failing = Math.min(passing + step, items.length)
    let reason = await faultUpTo(failing)
    if (reason === null) {
      passing = failing
      step *= 2
      continue
    }
    while (failing - passing > 1) {
      const middle = Math.floor((passing + failing) / 2)
      const fault = await faultUpTo(middle)
      if (fault === null) passing = middle
      else {
        failing = middle
        reason = fault
      }
    }
    for (const item of items.slice(passing, failing)) poisoned.set(item, reason)
    passing = failing
    // Mostly it is one alone. If not, the next is likely to be near.
    step = poisoned.size === 1 ? items.length : 1
  }
  return poisoned
}
