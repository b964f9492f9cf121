/**
 * Rows that one statement changes: a short lock, and little for one vacuum. They are chosen in a `materialized` sub-query:
 * another one may be run once for each row of the table, and with `skip locked` choose others each time.
 */
export const CHUNK_ROWS = 2000

/**
 * Repeats a statement that changes `CHUNK_ROWS` rows at most until it finds no more. Returns how many they were.
 * `report` hears after each full step how many there have been.
 */
export async function runInChunks(
  step: () => PromiseLike<{ count: number }>,
  report?: (soFar: number) => void,
): Promise<number> {
  let total = 0
  for (;;) {
    const { count } = await step()
    total += count
    if (count < CHUNK_ROWS) return total
    report?.(total)
  }
}
