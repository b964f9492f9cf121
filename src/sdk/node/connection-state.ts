/** The connection to the service, which all requests of a client share: when it is asked to wait, or the service is away, all wait. */
import type { Answer } from './answer.ts'
import { post, type PostRequest } from './post.ts'
import type { Settings } from './read-options.ts'
import { now, sleep } from './timers.ts'

export interface Connection {
  /** Never rejects. Undefined: it was not sent, for it could not be before its deadline, or its signal came before. */
  exchange(request: PostRequest): Promise<Answer | undefined>
  /** How long to wait before it is sent again, in ms. */
  backOff(request: PostRequest, answer: Answer): number
}

export function createConnection({ minRetryMs, maxRetryMs, ...service }: Settings): Connection {
  let openAt = 0
  /** How often the service was away in a row. What was under way together fails together, and counts once. */
  let rounds = 0

  /** Full jitter: callers that failed together do not come back together. */
  const jitter = (step: number): number => Math.random() * Math.min(maxRetryMs, minRetryMs * 2 ** (step - 1))
  const pause = (ms: number): void => {
    openAt = Math.max(openAt, now() + ms)
  }
  /** `round`: as it was when the request was sent. */
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

/** No answer, or that of a proxy whose service is away. */
export const isAway = (status: number): boolean => [0, 502, 503, 504].includes(status)
