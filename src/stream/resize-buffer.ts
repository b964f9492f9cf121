/** Requests that wait in the front door until their partition opens again: for up to a second, and only as many as fit. */
const HOLD_MS = 1000

export interface Bufferable {
  bytes: number
  /** By `performance.now()`; set when it is held for the first time. */
  heldUntil?: number
}

export interface ResizeBuffer<T extends Bufferable> {
  /** False when it has waited long enough, or there is no room. */
  add(request: T): boolean
  /** All that are held, no longer held. */
  takeAll(): T[]
  close(): void
}

/** `giveUp` is called with what was held for too long. */
export function createResizeBuffer<T extends Bufferable>(
  mostBytes: number,
  giveUp: (request: T) => void,
): ResizeBuffer<T> {
  let held: T[] = []
  let bytes = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const takeAll = (): T[] => {
    const all = held
    held = []
    bytes = 0
    return all
  }
  const sweep = (): void => {
    timer = undefined
    for (const request of takeAll()) if (!add(request)) giveUp(request)
  }
  const add = (request: T): boolean => {
    const now = performance.now()
    request.heldUntil ??= now + HOLD_MS
    if (request.heldUntil <= now || bytes + request.bytes > mostBytes) return false
    held.push(request)
    bytes += request.bytes
    timer ??= setTimeout(sweep, request.heldUntil - now + 1)
    return true
  }
  return { add, takeAll, close: () => clearTimeout(timer) }
}
