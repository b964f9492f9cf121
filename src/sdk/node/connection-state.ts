/**
 * The connection to the service, shared by all requests of a client. They all wait when the service asks for a pause or
 * is away.
 */
import type { Answer } from './answer.ts'
import { post, type PostRequest } from './post.ts'
import type { Settings } from './read-options.ts'
import { now, sleep } from './timers.ts'

export interface Connection {
  /** Never rejects. Undefined when nothing was sent, because the deadline or the signal came first. */
  exchange(request: PostRequest): Promise<Answer | undefined>
  /** Returns the milliseconds to wait before the request is sent again. */
  backOff(request: PostRequest, answer: Answer): number
}

export function createConnection({ minRetryMs, maxRetryMs, ...service }: Settings): Connection {
  let openAt = 0
  /**
   * Number of consecutive rounds in which the service was away. Requests in flight at the same time fail together, and
   * count once.
   */
  let rounds = 0

  /** Full jitter, so that callers that failed together do not retry together. */
  const jitter = (step: number): number => Math.random() * Math.min(maxRetryMs, minRetryMs * 2 ** (step - 1))
  const pause = (ms: number): void => {
    openAt = Math.max(openAt, now() + ms)
  }
  /** `round`: its value when the request was sent. */
  const learn = ({ status, retryAfterMs }: Answer, round: number): void => {
    if (retryAfterMs) pause(retryAfterMs)
    if (!isAway(status)) rounds = 0
    // A single failure means nothing yet.
    else if (round === rounds && rounds++ > 0) pause(jitter(rounds - 1))
  }

  return {
    async exchange(request) {
      const { signal, deadline, timeoutMs } = request
      while (openAt > now() && openAt < deadline && !signal.aborted) await sleep(openAt - now(), signal)
      const left = deadline - Math.max(openAt, now())
      if (signal.aborted || left <= 0) return undefined
      request.tries++
      const round = rounds
      const answer = await post(service, request, Math.min(timeoutMs, left))
      if (!signal.aborted) learn(answer, round)
      return answer
    },
    backOff: ({ tries }, { retryAfterMs = 0 }) => retryAfterMs + jitter(tries),
  }
}

/** No response, or the response of a proxy whose service is away. */
export const isAway = (status: number): boolean => [0, 502, 503, 504].includes(status)
