/** Polls for new requests while the page is visible. */
import { useEffect, useEffectEvent, useReducer, useRef, useState } from 'react'
import { ApiError } from '../../../client.ts'
import { EMPTY_FEED, MAX_ROWS, changeFeed } from './feed.ts'
import type { Filter } from './search.ts'
import { fetchNewer, fetchRequests } from './queries.ts'

const POLL_MS = 500
const AFTER_FAILURE_MS = 5000

/** Feed of one filter: remount the component for another filter. With `isHeld`, new requests wait. */
export function useFeed(businessId: string, filter: Filter, isHeld: boolean) {
  const [feed, change] = useReducer(changeFeed, EMPTY_FEED)
  const [error, setError] = useState<Error | null>(null)
  const [attempt, setAttempt] = useState(0)
  const closed = useRef<AbortSignal>(null)
  const isAsking = useRef(false)

  const ask = useEffectEvent(async (signal: AbortSignal) => {
    if (feed.newest === undefined) {
      change({ kind: 'first', answer: await fetchRequests(businessId, filter, {}, signal) })
      return
    }
    const answer = await fetchNewer(businessId, filter, feed.newest, signal)
    if (answer.newest !== feed.newest) addNewer(answer)
  })
  // `isHeld` may have changed while the answer was on its way.
  const addNewer = useEffectEvent((answer: Awaited<ReturnType<typeof fetchNewer>>) =>
    change({ kind: 'newer', answer, isHeld }),
  )

  useEffect(() => {
    const closing = new AbortController()
    closed.current = closing.signal
    let timer: ReturnType<typeof setTimeout> | undefined
    let isBusy = false
    const poll = async () => {
      if (isBusy || document.hidden) return
      isBusy = true
      clearTimeout(timer)
      let wait: number | null = POLL_MS
      try {
        await ask(closing.signal)
        if (!closing.signal.aborted) setError(null)
      } catch (failure) {
        if (!closing.signal.aborted) setError(failure as Error)
        wait = isFinal(failure) ? null : AFTER_FAILURE_MS
      }
      isBusy = false
      if (!closing.signal.aborted && wait !== null) timer = setTimeout(() => void poll(), wait)
    }
    const onVisible = () => void poll()
    document.addEventListener('visibilitychange', onVisible)
    void poll()
    return () => {
      document.removeEventListener('visibilitychange', onVisible)
      clearTimeout(timer)
      closing.abort()
    }
  }, [attempt])

  useEffect(() => {
    if (!isHeld) change({ kind: 'show' })
  }, [isHeld])

  const loadOlder = () => {
    const { oldest, shown } = feed
    const signal = closed.current
    if (oldest === null || signal === null || isAsking.current || shown.length >= MAX_ROWS) return
    isAsking.current = true
    fetchRequests(businessId, filter, { before: oldest }, signal)
      .then((answer) => change({ kind: 'older', answer }))
      .catch((failure: unknown) => !signal.aborted && setError(failure as Error))
      .finally(() => {
        isAsking.current = false
      })
  }
  return { feed, error, loadOlder, show: () => change({ kind: 'show' }), retry: () => setAttempt(attempt + 1) }
}

/** True when another attempt would get the same answer. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
