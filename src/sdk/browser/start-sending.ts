/** Sends the items of the outbox to the service. Only one tab sends at a time, and only one request at a time. */
import { backOff, classifyAnswer, LONGEST_PAUSE_MS, type AnswerClass } from './classify-answer.ts'
import type { Visitor } from './know-visitor.ts'
import type { Outbox, Pending, Route } from './open-outbox.ts'
import type { Store } from './open-store.ts'
import { pickBatch } from './pick-batch.ts'
import { warn } from './warn.ts'

export interface Sender {
  /** Sends all waiting items, within this number of milliseconds. */
  wake(ms: number): void
  /** Sends this page's remaining items, because the page may be gone in a moment. */
  leave(): void
}

const pathTo = (route: Route): string => `/api/sdk/${route === 'identify' ? '' : 'browser/'}${route}`
/** When the service asks for a pause, all tabs and later pages observe it. */
const PAUSE = 'sluice_pause'
const PATIENCE_MS = 20_000
/**
 * Browsers limit requests that outlive their page to 64 KiB in total, and refuse more. A character has at most three
 * bytes.
 */
const KEPT_ALIVE = 20_000

/** `compose`: returns the body of a request. */
export function startSending(
  outbox: Outbox,
  store: Store,
  visitor: Visitor,
  endpoint: string,
  compose: (batch: Pending[]) => string,
): Sender {
  const flying = new Set<string>()
  let [failures, quietUntil, timer, due] = [0, 0, 0, Infinity]
  let last = Promise.resolve()

  /**
   * Items to send. A track waits for the response to an earlier identify unless the page ends, because it would belong
   * to no contact if it came first.
   */
  const waiting = (): Pending[] => {
    let isKnown = true
    return outbox.list().filter(({ key, route }) => {
      if (route === 'identify') isKnown = false
      return !flying.has(key) && (isKnown || route !== 'track' || !store.lasts(key))
    })
  }
  const may = () => visitor.permission() === 'granted'
  const isBlocked = () => !may() || !navigator.onLine
  const pauseLeft = (): number => {
    const storedPauseMs = Number(store.get(PAUSE)) - Date.now()
    // A clock that is set back must not silence the page for longer than the longest pause.
    return Math.max(storedPauseMs <= LONGEST_PAUSE_MS ? storedPauseMs : 0, quietUntil - Date.now())
  }

  const wake = (ms: number): void => {
    const at = Date.now() + ms
    if (at >= due) return
    clearTimeout(timer)
    due = at
    timer = setTimeout(() => {
      due = Infinity
      last = last.then(() => alone(sendAll)).catch(warn)
    }, ms)
  }

  const sendAll = async (): Promise<void> => {
    for (;;) {
      const batch = pickBatch(waiting())
      if (batch.length === 0 || isBlocked()) return
      if (pauseLeft() > 0) return wake(pauseLeft())
      await send(batch)
    }
  }

  const send = async (batch: Pending[]): Promise<void> => {
    batch.forEach(({ key }) => flying.add(key))
    const { keep, failed, pauseMs } = await post(endpoint, batch[0]!.route, compose(batch))
    batch.forEach(({ key }) => flying.delete(key))
    if (!may()) return
    if (failed) batch.forEach(outbox.fail)
    if (!keep) batch.forEach(outbox.remove)
    if (pauseMs !== undefined) store.set(PAUSE, `${Date.now() + pauseMs}`)
    else if (keep) quietUntil = Date.now() + backOff(failures++, Math.random())
    else failures = 0
  }

  return {
    wake,
    leave() {
      if (isBlocked() || pauseLeft() > 0) return
      let left = waiting().filter(outbox.isOwn)
      while (left.length > 0) {
        const batch = pickBatch(left)
        left = left.filter((item) => !batch.includes(item))
        // A beacon reports no outcome. That is sufficient for captures, but not for calls.
        if (batch[0]!.route === 'capture' && beacon(endpoint, compose(batch))) batch.forEach(outbox.remove)
        // If the page continues, the items that waited for the response are sent next.
        else send(batch).then(() => wake(0), warn)
      }
    },
  }
}

function beacon(endpoint: string, body: string): boolean | undefined {
  return navigator.sendBeacon?.(endpoint + pathTo('capture'), body)
}

/** One warning per page is enough. */
let isWarned = false

/** text/plain needs no preflight. Cookies are never sent. */
async function post(endpoint: string, route: Route, body: string): Promise<AnswerClass> {
  try {
    const response = await fetch(endpoint + pathTo(route), {
      method: 'POST',
      headers: { 'Content-Type': route === 'identify' ? 'application/json' : 'text/plain' },
      body,
      credentials: 'omit',
      keepalive: body.length < KEPT_ALIVE,
      signal: AbortSignal.timeout?.(PATIENCE_MS),
    })
    const verdict = classifyAnswer(response.status, response.headers.get('Retry-After'))
    if (!verdict.keep && !response.ok) warn(`${route} was refused: ${await response.text()}`)
    if (response.ok && !isWarned && /"ignored":"bot"/.test(await response.text().catch(String))) {
      isWarned = true
      warn('this browser counts as a bot: nothing is recorded (see --bots)')
    }
    return verdict
  } catch {
    return classifyAnswer(0, null)
  }
}

/** Without locks, or when a tab holds one too long, two tabs may send the same item. It counts only once. */
async function alone(work: () => Promise<void>): Promise<void> {
  try {
    await navigator.locks.request('sluice', { signal: AbortSignal.timeout(PATIENCE_MS) }, work)
  } catch {
    await work()
  }
}
