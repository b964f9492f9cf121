/** Time limit of the search for poisoned items in one micro-batch. The other items wait meanwhile. */
export interface TimeLimit {
  /** Starts the clock; later calls have no effect. */
  begin(): void
  isOver(): boolean
  /** Time lost to errors of Postgres does not count. */
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
