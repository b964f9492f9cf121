/** Stops a statement of the embedded ClickHouse when its caller closes the connection, like a ClickHouse server. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Session } from 'chdb'
import { textLiteral } from '../../stores/clickhouse-literal.ts'

const AGAIN_MS = 100

interface Stop {
  /** Set this as the `log_comment` of the statement's connection. */
  mark: string
  /** Aborts when the connection is closed. */
  signal: AbortSignal
  /** Call this when the statement has ended. */
  end(): void
}

async function kill(folder: string, mark: string): Promise<void> {
  const session = new Session(folder)
  try {
    await session.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${textLiteral(mark)} ASYNC`)
  } finally {
    session.close()
  }
}

/**
 * Stops the statement by its entry in the list of running statements. `comment`: the caller's own `log_comment`, with
 * which the mark begins.
 */
export function stopWhenClosed(response: ServerResponse, folder: string, comment = ''): Stop {
  const mark = `${comment} ${randomUUID()}`.trimStart()
  const closed = new AbortController()
  let hasEnded = false
  const onClose = () => {
    closed.abort()
    void stop()
  }
  response.once('close', onClose)
  async function stop(): Promise<void> {
    // Repeats, because the statement may not have begun yet.
    for (; !hasEnded; await sleep(AGAIN_MS)) {
      await kill(folder, mark).catch(() => undefined)
    }
  }
  return {
    mark,
    signal: closed.signal,
    end() {
      hasEnded = true
      response.off('close', onClose)
    },
  }
}
