/** Stops a statement of the embedded ClickHouse when its caller closes the connection, as a server of ClickHouse does. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Session } from 'chdb'
import { textLiteral } from '../stores/clickhouse-literal.ts'

const AGAIN_MS = 100

interface Stop {
  /** Set it as `log_comment` of the statement's connection. */
  mark: string
  /** Aborts when the connection is closed. */
  signal: AbortSignal
  /** Call it when the statement has ended. */
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
 * The engine stops a statement by its entry in the list of running ones. `comment`: the caller's own `log_comment`, with which the mark
 * begins.
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
    // It may be about to begin.
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
