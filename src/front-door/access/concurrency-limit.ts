/** Calls of one business, a few at a time: a crowd of them, or slow ones, keep no other business waiting. */
import { RequestError } from '../../errors.ts'
import { createTimeOuts } from '../../async/shared-timeouts.ts'
import type { Call } from '../app-context.ts'

/** Resolves with what ends the turn. Rejects with RequestError `unavailable` when the turn does not come. */
export type Turns = (businessId: string) => Promise<() => void>

/** Reads share a front door's four connections. Edits are applied one by one, in partitions that businesses share. */
export const AT_ONCE = { read: 2, change: 4 } as const
/** Less than the time after which a server hangs up on an idle connection. */
const PATIENCE_MS = 5000

interface Calls {
  running: number
  /** In order of arrival. */
  waiting: Set<() => void>
}

export function createTurns(atOnce: number, patienceMs = PATIENCE_MS): Turns {
  const businesses = new Map<string, Calls>()
  const timeOuts = createTimeOuts(patienceMs)

  function wait(calls: Calls): Promise<void> {
    return new Promise((resolve, reject) => {
      const timeOut = timeOuts.begin(() => {
        calls.waiting.delete(begin)
        reject(new RequestError('unavailable', { headers: { 'Retry-After': '1' } }))
      })
      const begin = (): void => {
        timeOuts.end(timeOut)
        resolve()
      }
      calls.waiting.add(begin)
    })
  }

  function end(businessId: string, calls: Calls): void {
    const [next] = calls.waiting
    if (next) {
      calls.waiting.delete(next)
      next()
      return
    }
    calls.running -= 1
    if (calls.running === 0) businesses.delete(businessId)
  }

  return async (businessId) => {
    const calls = businesses.get(businessId) ?? { running: 0, waiting: new Set() }
    businesses.set(businessId, calls)
    if (calls.running < atOnce) calls.running += 1
    else await wait(calls)
    return () => end(businessId, calls)
  }
}

/** The turn ends with the answer. */
export async function takeTurn(turns: Turns, call: Call, businessId: string): Promise<void> {
  call.endTurn = await turns(businessId)
}
