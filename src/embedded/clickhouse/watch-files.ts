/**
 * Detects failed writes and reads, because npm `chdb` lacks two checks of ClickHouse. chdb counts failed writes to
 * files (mostly because of a full disk) but otherwise ignores them: an insert succeeds, or parts are merged, but the
 * file on the disk is empty. It takes a failed read for the end of the file, so another error follows (open-tables.ts),
 * or a column is read as zeroes.
 */
import type { Session } from 'chdb'

/**
 * Milliseconds between checks, for merges, which no request starts. ClickHouse keeps the merged parts for minutes
 * (0001_tables.sql).
 */
const CHECK_MS = 10_000

export interface FileWatch {
  /**
   * Returns the result of a statement. If the statement reads tables, as all except inserts do, rejects with
   * ClickHouse's error 74 when any read has failed during it or since the last check, even in another statement.
   */
  through<Result>(statement: () => Promise<Result>, options: { readsTables: boolean }): Promise<Result>
}

/** For tests on a file system in memory: a check takes longer than a small statement. */
export const UNWATCHED: FileWatch = { through: (statement) => statement() }

/**
 * Ends this process at once if a write has failed since the process began: before a request gets a success response,
 * and before an incomplete part replaces others. The next start sets the part aside (repair-tables.ts). Resolves when
 * no write has failed.
 */
export async function watchFiles(session: Session): Promise<FileWatch> {
  let known = 0

  const check = async (): Promise<number> => {
    const { writes, reads } = await countFailures(session)
    if (writes > 0) {
      process.stderr.write(
        `${writes} writes to files failed: ending, so that the next start sets aside incomplete parts\n`,
      )
      process.kill(process.pid, 'SIGKILL')
    }
    if (reads > known) {
      known = reads
      process.stderr.write(`${reads} reads of files failed, the last: ${await reportLastRead(session)}\n`)
    }
    return reads
  }

  await check()
  setInterval(() => void check().catch((error: unknown) => process.stderr.write(`${String(error)}\n`)), CHECK_MS)
  return {
    async through(statement, { readsTables }) {
      const before = known
      const [outcome] = await Promise.allSettled([statement()])
      const isComplete = (await check()) === before || !readsTables
      if (isComplete && outcome.status === 'fulfilled') return outcome.value
      const own: unknown = outcome.status === 'rejected' ? outcome.reason : undefined
      throw isComplete ? own : new Error(await describe(session, own))
    },
  }
}

/** Counts the failures since the process began. */
async function countFailures(session: Session): Promise<{ writes: number; reads: number }> {
  const counts = await queryRow(
    session,
    `SELECT sumIf(value, event = 'WriteBufferFromFileDescriptorWriteFailed'),
      sumIf(value, event = 'ReadBufferFromFileDescriptorReadFailed') FROM system.events SETTINGS max_threads = 1`,
  )
  const [writes = 0, reads = 0] = counts.split('\t').map(Number)
  return { writes, reads }
}

/** Returns ClickHouse's message, which sometimes names the file. */
const reportLastRead = (session: Session): Promise<string> =>
  queryRow(session, 'SELECT last_error_message FROM system.errors WHERE code = 74')

/** `own`: the error of the statement itself, if any. It may name the part. */
async function describe(session: Session, own: unknown): Promise<string> {
  const part = own instanceof Error ? /while reading from part (\S+)/.exec(own.message)?.[1] : undefined
  const place = part === undefined ? '' : `, in ${part}`
  return `Code: 74. DB::Exception: ${await reportLastRead(session)}${place} (CANNOT_READ_FROM_FILE_DESCRIPTOR)`
}

/** Returns the only row of the result, with tabs between the columns. */
export async function queryRow(session: Session, query: string): Promise<string> {
  const result = await session.queryAsync(query, { format: 'TabSeparated' })
  return result.text().trim()
}
