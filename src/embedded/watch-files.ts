/**
 * What the engine of npm `chdb` does not do itself: it is ClickHouse with two checks taken out. A write to a file that fails
 * (a full disk, above all) is counted and otherwise ignored: an insert is answered well, or small parts become a large one,
 * and what is on the disk is empty. A read that fails counts as the end of the file: what was not read is zero or empty, in
 * an answer, or for good in the part that a merge or a mutation makes.
 */
import type { Session } from 'chdb'
import { noteSuspects } from './undo-merges.ts'

/** Between two looks at what nobody asked for: merges. What they replace is kept for minutes (0008_keep_replaced.sql). */
const LOOK_MS = 10_000

export interface FileWatch {
  /**
   * Called as a statement begins; what it returns, when it is through and before that is told: rejects with ClickHouse's
   * error 74 when a read has failed meanwhile, whoever's it was.
   */
  begin(): () => Promise<void>
}

/**
 * Ends this process at once when a write has failed since it began, or a read beside which something was merged or mutated:
 * before anybody is told that all is well, and before what is not whole replaces what was. The next start puts it right
 * (mend-tables.ts, undo-merges.ts). Rejects when reads failed already, for then it does not know what the tables hold.
 */
export async function watchFiles(session: Session, folder: string): Promise<FileWatch> {
  let failedReads = 0
  /** When the last look began that found nothing new. */
  let wellAt = Date.now()

  const look = async (): Promise<number> => {
    const began = Date.now()
    const { writes, reads } = await countFailures(session)
    if (writes > 0) end(`${writes} writes to files failed: ending, so that the next start sets aside what is not whole`)
    if (reads > failedReads) {
      failedReads = reads
      await judgeMerges(session, folder, wellAt)
    }
    wellAt = Math.max(wellAt, began)
    return reads
  }

  if ((await look()) > 0) throw new Error(`${READS_FAILED} while the tables were opened: ${await tellLast(session)}`)
  setInterval(() => void look().catch((error: unknown) => process.stderr.write(`${String(error)}\n`)), LOOK_MS)
  return {
    begin() {
      const before = failedReads
      return async () => {
        if ((await look()) > before) throw new Error(await describe(session))
      }
    },
  }
}

const READS_FAILED = 'reads of files failed'

/** Nobody can tell whose reads they were: what was merged or mutated since all was well is to be made again. */
async function judgeMerges(session: Session, folder: string, since: number): Promise<void> {
  if (await hasMerged(session, since)) {
    noteSuspects(folder, since)
    end(`${READS_FAILED} beside a merge: ending, so that the next start undoes it: ${await tellLast(session)}`)
  }
  process.stderr.write(`${READS_FAILED}: ${await tellLast(session)}\n`)
}

function end(lastWords: string): void {
  process.stderr.write(`${lastWords}\n`)
  process.kill(process.pid, 'SIGKILL')
}

async function countFailures(session: Session): Promise<{ writes: number; reads: number }> {
  const [writes, reads] = await ask(
    session,
    `SELECT sumIf(value, event = 'WriteBufferFromFileDescriptorWriteFailed'),
      sumIf(value, event = 'ReadBufferFromFileDescriptorReadFailed') FROM system.events`,
  )
  return { writes: Number(writes), reads: Number(reads) }
}

async function hasMerged(session: Session, since: number): Promise<boolean> {
  const [merges, parts] = await ask(
    session,
    `SELECT (SELECT count() FROM system.merges), count() FROM system.parts
      WHERE active AND modification_time >= fromUnixTimestamp(${Math.floor(since / 1000)})
        AND (level > 0 OR data_version != min_block_number)`,
  )
  return Number(merges) + Number(parts) > 0
}

const describe = async (session: Session): Promise<string> =>
  `Code: 74. DB::Exception: ${await tellLast(session)} (CANNOT_READ_FROM_FILE_DESCRIPTOR)`

const tellLast = async (session: Session): Promise<string> =>
  (await ask(session, 'SELECT last_error_message FROM system.errors WHERE code = 74')).join('')

/** The only row. */
async function ask(session: Session, query: string): Promise<string[]> {
  const result = await session.queryAsync(query, { format: 'TabSeparated' })
  return result.text().trim().split('\t')
}
