import type { Logger } from '../log.ts'
import { pause } from '../stream/pause.ts'
import { describeFault } from './insert-events.ts'

const RETRY_MS = 150

/** Asks ClickHouse until it answers; undefined when it has not within the patience (milliseconds). */
export async function askPatiently<Answer>(
  log: Logger,
  patienceMs: number,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | undefined> {
  const patience = AbortSignal.timeout(patienceMs)
  for (;;) {
    try {
      return await ask(patience)
    } catch (error) {
      log.warn({ reason: describeFault(error) }, 'not read from ClickHouse')
      await pause(RETRY_MS, patience)
      if (patience.aborted) return undefined
    }
  }
}
