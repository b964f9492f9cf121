/**
 * Rows changed by one statement. Small, so that locks are short and a vacuum has little to do. Select the rows in a
 * `materialized` sub-query: Postgres may run any other sub-query once per row, and `skip locked` would then select
 * different rows each time.
 */
export const CHUNK_ROWS = 2000

/**
 * Repeats a statement that changes at most `CHUNK_ROWS` rows until no rows are left. Returns the total number of rows.
 * Calls `report` with the number so far after each full chunk.
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
