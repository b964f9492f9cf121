/** Time limit of the search for poisoned items in one micro-batch, during which the other items wait. */
export interface TimeLimit {
  /** Starts the clock; later calls have no effect. */
  begin(): void
  isOver(): boolean
  /** Extends the limit by time that was lost to errors of Postgres. */
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
