/**
 * What the engine of npm `chdb` does not do itself: it is ClickHouse with two checks taken out. A write to a file that fails
 * (a full disk, above all) is counted and otherwise ignored: an insert is answered well, or small parts become a large one,
 * and what is on the disk is empty. A read that fails counts as the end of the file, so that something else is amiss
 * (open-tables.ts), or a column comes out as zeroes.
 */
import type { Session } from 'chdb'

/** Between two looks at what nobody asked for: merges. What they replace is kept for minutes (0001_tables.sql). */
const LOOK_MS = 10_000

export interface FileWatch {
  /**
   * A statement's result. Of one that reads tables, as all but inserts do, it rejects with ClickHouse's error 74 when a read
   * has failed meanwhile, or since the last look, whoever's it was.
   */
  through<Result>(statement: () => Promise<Result>, options: { readsTables: boolean }): Promise<Result>
}

/**
 * Ends this process at once when a write has failed since it began: before anybody is told that all is well, and before
 * what is not whole replaces what was. The next start sets it aside (mend-tables.ts). Resolves when none has.
 */
export async function watchFiles(session: Session): Promise<FileWatch> {
  let known = 0

  const look = async (): Promise<number> => {
    const { writes, reads } = await countFailures(session)
    if (writes > 0) {
      process.stderr.write(
        `${writes} writes to files failed: ending, so that the next start sets aside what is not whole\n`,
      )
      process.kill(process.pid, 'SIGKILL')
    }
    if (reads > known) {
      known = reads
      process.stderr.write(`${reads} reads of files failed, the last: ${await reportLastRead(session)}\n`)
    }
    return reads
  }

  await look()
  setInterval(() => void look().catch((error: unknown) => process.stderr.write(`${String(error)}\n`)), LOOK_MS)
  return {
    async through(statement, { readsTables }) {
      const before = known
      const [outcome] = await Promise.allSettled([statement()])
      const isWhole = (await look()) === before || !readsTables
      if (isWhole && outcome.status === 'fulfilled') return outcome.value
      const own: unknown = outcome.status === 'rejected' ? outcome.reason : undefined
      throw isWhole ? own : new Error(await describe(session, own))
    },
  }
}

/** Since the process began. */
async function countFailures(session: Session): Promise<{ writes: number; reads: number }> {
  const counts = await ask(
    session,
    `SELECT sumIf(value, event = 'WriteBufferFromFileDescriptorWriteFailed'),
      sumIf(value, event = 'ReadBufferFromFileDescriptorReadFailed') FROM system.events`,
  )
  const [writes = 0, reads = 0] = counts.split('\t').map(Number)
  return { writes, reads }
}

/** What the engine says of it; of some it knows the file's name. */
const reportLastRead = (session: Session): Promise<string> =>
  ask(session, 'SELECT last_error_message FROM system.errors WHERE code = 74')

/** `own`: the statement's own error, if it had one. It may name the part. */
async function describe(session: Session, own: unknown): Promise<string> {
  const part = own instanceof Error ? /while reading from part (\S+)/.exec(own.message)?.[1] : undefined
  const place = part === undefined ? '' : `, in ${part}`
  return `Code: 74. DB::Exception: ${await reportLastRead(session)}${place} (CANNOT_READ_FROM_FILE_DESCRIPTOR)`
}

/** The only row, columns with tabs between. */
export async function ask(session: Session, query: string): Promise<string> {
  const result = await session.queryAsync(query, { format: 'TabSeparated' })
  return result.text().trim()
}
