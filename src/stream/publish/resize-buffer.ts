/**
 * Buffers requests in the front door until their partition opens again: up to a second, and up to a number of bytes.
 */
const MAX_WAIT_MS = 1000

export interface Bufferable {
  bytes: number
  /** Time limit by `performance.now()`, set when the request is first buffered. */
  bufferedUntil?: number
}

export interface ResizeBuffer<T extends Bufferable> {
  /** Returns false when the request has waited too long, or when the buffer is full. */
  add(request: T): boolean
  /** Removes all buffered requests and returns them. */
  takeAll(): T[]
  close(): void
}

/** `giveUp` is called with each request that has waited too long. */
export function createResizeBuffer<T extends Bufferable>(
  maxBytes: number,
  giveUp: (request: T) => void,
): ResizeBuffer<T> {
  let buffered: T[] = []
  let bytes = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const takeAll = (): T[] => {
    const all = buffered
    buffered = []
    bytes = 0
    return all
  }
  const sweep = (): void => {
    timer = undefined
    for (const request of takeAll()) if (!add(request)) giveUp(request)
  }
  const add = (request: T): boolean => {
    const now = performance.now()
    request.bufferedUntil ??= now + MAX_WAIT_MS
    if (request.bufferedUntil <= now || bytes + request.bytes > maxBytes) return false
    buffered.push(request)
    bytes += request.bytes
    timer ??= setTimeout(sweep, request.bufferedUntil - now + 1)
    return true
  }
  return { add, takeAll, close: () => clearTimeout(timer) }
}
