/** How long the search for poison in one micro-batch may take. Its neighbours wait for that long. */
export interface TimeLimit {
  /** The clock runs from the first call on. */
  begin(): void
  isOver(): boolean
  /** Time that was lost with trouble in Postgres does not count. */
  extend(ms: number): void
}

export function createTimeLimit(ms: number, now = () => performance.now()): TimeLimit {
  let endsAt: number | undefined
  return {
    begin: () => void (endsAt ??= now() + ms),
    isOver: () => endsAt !== undefined && now() >= endsAt,
    extend(lost) {
      if (endsAt !== undefined) endsAt += lost
    },
  }
}
