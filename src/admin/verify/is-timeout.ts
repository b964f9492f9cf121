/** Whether ClickHouse or Postgres ended a statement at its time limit. */
export function isTimeout(error: unknown): boolean {
  const { type, code } = error as { type?: unknown; code?: unknown }
  return type === 'TIMEOUT_EXCEEDED' || code === '57014'
}
