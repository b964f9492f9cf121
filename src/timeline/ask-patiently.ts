import { ClickHouseError } from '@clickhouse/client'
import type { Logger } from '../log.ts'
import { pause } from '../stream/pause.ts'
import { describeFault } from './insert-events.ts'

const RETRY_MS = 150

/**
 * Asks ClickHouse until it answers; undefined when it has not within the patience (milliseconds). Rejects when it does not
 * understand the question, which is a fault of ours.
 */
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
      if (isMisunderstood(error)) throw error
      log.warn({ reason: describeFault(error) }, 'not read from ClickHouse')
      await pause(RETRY_MS, patience)
      if (patience.aborted) return undefined
    }
  }
}

/** Not a table that is missing: a ClickHouse that was lost gets it back. */
const MISUNDERSTOOD =
  /^(SYNTAX_ERROR|BAD_ARGUMENTS|BAD_QUERY_PARAMETER|UNKNOWN_(IDENTIFIER|FUNCTION|SETTING|QUERY_PARAMETER)|ILLEGAL_TYPE_OF_ARGUMENT|TYPE_MISMATCH|NO_COMMON_TYPE|TOO_DEEP_SUBQUERIES)$/

const isMisunderstood = (error: unknown): boolean =>
  error instanceof ClickHouseError && MISUNDERSTOOD.test(error.type ?? '')
