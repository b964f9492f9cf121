/**
 * Splits the time that a page is visible into active and idle. Idle time begins half a minute after the last activity.
 */

export interface Watch {
  /** Records activity. Showing and hiding the page are activity, too. */
  touch(now: number, isSeen: boolean): void
  /** Returns the times since the last reset. */
  read(now: number): { activeMs: number; idleMs: number }
  reset(now: number): void
}

export const IDLE_AFTER_MS = 30_000

export function startWatch(): Watch {
  let [counted, touched, seen, activeMs, idleMs] = [0, 0, false, 0, 0]
  const count = (now: number): void => {
    const elapsed = seen ? Math.max(0, now - counted) : 0
    const active = Math.min(Math.max(0, touched + IDLE_AFTER_MS - counted), elapsed)
    activeMs += active
    idleMs += elapsed - active
    counted = now
  }
  return {
    touch(now, isSeen) {
      count(now)
      touched = now
      seen = isSeen
    },
    read(now) {
      count(now)
      return { activeMs: Math.round(activeMs), idleMs: Math.round(idleMs) }
    },
    reset(now) {
      counted = now
      activeMs = idleMs = 0
    },
  }
}
