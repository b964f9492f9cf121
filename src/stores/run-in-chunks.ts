/**
 * Rows that one statement changes: a short lock, and little for one vacuum. They are chosen in a `materialized` sub-query:
 * another one may be run once for each row of the table, and with `skip locked` choose others each time.
 */
export const STEP = 2000

/**
 * Repeats a statement that changes `STEP` rows at most until it finds no more. Returns how many they were.
 * `tell` hears after each full step how many there have been.
 */
export async function inSteps(
  step: () => PromiseLike<{ count: number }>,
  tell?: (soFar: number) => void,
): Promise<number> {
  let total = 0
  for (;;) {
    const { count } = await step()
    total += count
    if (count < STEP) return total
    tell?.(total)
  }
}
