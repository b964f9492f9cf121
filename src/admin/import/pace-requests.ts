/** An import leaves a quarter of the business's rate limit to live calls (docs/operations.md, "Imports"). */
import { setTimeout as sleep } from 'node:timers/promises'

type Send = (url: string, request: RequestInit) => Promise<Response>

/** Of the limit, what an import never uses. */
const RESERVED = 1 / 4

/**
 * Sends like `send`, but waits for the next window of the limiter where less than the reserve would be left. What is left is
 * read from the RateLimit headers of each answer, so live calls count too. The first request of a window goes alone.
 *
 * @param onWait called before each wait, with its length in ms
 */
export function paceRequests(send: Send, onWait: (waitMs: number) => void, now = () => performance.now()): Send {
  /** Requests that may go before another answer is in. */
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
    // In the same turn as the look at it: the next request in line must not see it as it was.
    allowed -= 1
    inFlight += 1
  }
  const settleBucket = (response: Response | undefined): void => {
    const limit = response && readLimit(response.headers)
    if (limit) {
      // Requests in flight may be counted in `remaining` already. The last answer of all is exact.
      allowed = limit.remaining - Math.ceil(limit.requests * RESERVED) - inFlight
      windowEndsAt = now() + limit.resetMs
    } else {
      // The limiter is away, or nothing answered: the sender's own retries set the pace.
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
      settleBucket(response)
    }
  }
}

/** `RateLimit-Policy: "default";q=120;w=60` and `RateLimit: "default";r=90;t=30` (decisions, "Envelope, errors, headers"). */
function readLimit(headers: Headers): { requests: number; remaining: number; resetMs: number } | undefined {
  const requests = /;q=(\d+)/.exec(headers.get('ratelimit-policy') ?? '')?.[1]
  const [, remaining, seconds] = /;r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  if (requests === undefined || remaining === undefined) return undefined
  return { requests: Number(requests), remaining: Number(remaining), resetMs: Number(seconds) * 1000 }
}
