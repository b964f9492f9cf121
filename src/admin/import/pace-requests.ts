/** Keeps a quarter of the business's rate limit free for live calls (docs/operations.md, "Import past events"). */
import { setTimeout as sleep } from 'node:timers/promises'

type Send = (url: string, request: RequestInit) => Promise<Response>

/** Share of the limit that an import never uses. */
const RESERVED = 1 / 4

/**
 * Sends like `send`, but waits for the next window of the rate limiter when less than the reserve would remain. The
 * remainder comes from the RateLimit headers of each response, so live calls count, too. The first request of a window
 * is sent alone.
 *
 * @param onWait called before each wait, with its length in milliseconds
 */
export function paceRequests(send: Send, onWait: (waitMs: number) => void, now = () => performance.now()): Send {
  /** Number of requests that may be sent before the next response. */
  let allowed = 1
  let inFlight = 0
  let windowEndsAt = -Infinity
  let answered = Promise.withResolvers<void>()

  const waitForTurn = async (signal: AbortSignal | null | undefined): Promise<void> => {
    while (allowed <= 0) {
      if (inFlight > 0) {
        await answered.promise
        continue
      }
      const waitMs = windowEndsAt - now()
      if (waitMs > 0) {
        onWait(waitMs)
        await sleep(waitMs, undefined, signal ? { signal } : {})
      }
      if (inFlight === 0) allowed = Math.max(allowed, 1)
    }
    // There must be no await between the check of `allowed` and this: the next waiting request must see the new value.
    allowed -= 1
    inFlight += 1
  }
  const updateAllowance = (response: Response | undefined): void => {
    const limit = response && readLimit(response.headers)
    if (limit) {
      // `remaining` may already include requests in flight. After the last response it is exact.
      allowed = limit.remaining - Math.ceil(limit.requests * RESERVED) - inFlight
      windowEndsAt = now() + limit.resetMs
    } else {
      // The limiter is unavailable, or there was no response: the sender's retries set the pace.
      allowed = Infinity
    }
    answered.resolve()
    answered = Promise.withResolvers()
  }

  return async (url, request) => {
    await waitForTurn(request.signal)
    let response: Response | undefined
    try {
      response = await send(url, request)
      return response
    } finally {
      inFlight -= 1
      updateAllowance(response)
    }
  }
}

/**
 * Parses `RateLimit-Policy: "default";q=120;w=60` and `RateLimit: "default";r=90;t=30` (decisions, "Envelope, errors,
 * headers").
 */
function readLimit(headers: Headers): { requests: number; remaining: number; resetMs: number } | undefined {
  const requests = /;q=(\d+)/.exec(headers.get('ratelimit-policy') ?? '')?.[1]
  const [, remaining, seconds] = /;r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  if (requests === undefined || remaining === undefined) return undefined
  return { requests: Number(requests), remaining: Number(remaining), resetMs: Number(seconds) * 1000 }
}
