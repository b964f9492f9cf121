/** Runs one statement at a time. ClickHouse stops it when the person cancels it or closes the page. */
import { useEffect, useRef, useState } from 'react'
import { api, take } from '../../../client.ts'
import type { Result } from './queries.ts'

export interface Run {
  result: Result | null
  error: Error | null
  isRunning: boolean
  /** Start of the running statement in epoch ms. */
  startedAt: number
  start: (statement: string, parameters: Record<string, string>) => void
  cancel: () => void
}

type Shown = Pick<Run, 'result' | 'error' | 'isRunning' | 'startedAt'>

export function useRun(businessId: string): Run {
  const [shown, setShown] = useState<Shown>({ result: null, error: null, isRunning: false, startedAt: 0 })
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const start = (statement: string, parameters: Record<string, string>) => {
    running.current?.abort()
    const own = new AbortController()
    running.current = own
    setShown((before) => ({ ...before, error: null, isRunning: true, startedAt: Date.now() }))
    const answer = take(
      api.POST('/dashboard/api/b/{businessId}/sql', {
        params: { path: { businessId } },
        body: { statement, parameters },
        signal: own.signal,
      }),
    )
    const end = (outcome: Pick<Shown, 'result' | 'error'>) => {
      if (running.current === own) setShown((before) => ({ ...before, ...outcome, isRunning: false }))
    }
    answer.then(
      (result) => end({ result, error: null }),
      (error: Error) => end({ result: null, error: own.signal.aborted ? null : error }),
    )
  }
  return { ...shown, start, cancel: () => running.current?.abort() }
}
