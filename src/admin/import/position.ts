/** How far an import has come, kept in a small file so that a run that was killed goes on where it stopped. */
import { appendFile, mkdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Totals {
  received: number
  recorded: number
  deduped: number
  failed: number
}

/** Every row up to `position` is settled; `failureBytes` is how much of the failures file tells of them. */
export interface Progress extends Totals {
  file: string
  position: number
  failureBytes: number
}

export interface Journal {
  failuresFile: string
  start: Progress
  /** Settles rows: first their failures (JSON lines), then the position. */
  advance(progress: Progress, failures: string): Promise<void>
  /** The import is complete: the next run begins anew, and no empty file of failures stays. */
  finish(): Promise<void>
  /** The next run begins anew; the failures stay. */
  forgetPosition(): Promise<void>
}

/** Opens (`restart`: forgets) what an earlier run of the same import left in `directory`. */
export async function openJournal(directory: string, id: string, file: string, restart: boolean): Promise<Journal> {
  const positionFile = join(directory, `${id}.json`)
  const failuresFile = join(directory, `${id}.failures.ndjson`)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const start = restart ? undefined : await readProgress(positionFile)
  let isOurs = false
  /** Until the first row of this run is settled, the file is the run before's: an import that is refused leaves it as it is. */
  const takeOver = async (): Promise<void> => {
    if (isOurs) return
    await appendFile(failuresFile, '', { mode: 0o600 })
    await truncate(failuresFile, start?.failureBytes ?? 0)
    isOurs = true
  }
  const forgetPosition = (): Promise<void> => rm(positionFile, { force: true })
  return {
    failuresFile,
    start: start ?? { file, position: 0, failureBytes: 0, received: 0, recorded: 0, deduped: 0, failed: 0 },
    forgetPosition,
    async advance(progress, failures) {
      await takeOver()
      if (failures) await appendFile(failuresFile, failures)
      await writeFile(`${positionFile}.new`, JSON.stringify(progress), { mode: 0o600 })
      await rename(`${positionFile}.new`, positionFile)
    },
    async finish() {
      await takeOver()
      await forgetPosition()
      if ((await stat(failuresFile)).size === 0) await rm(failuresFile)
    },
  }
}

async function readProgress(file: string): Promise<Progress | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Progress
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
