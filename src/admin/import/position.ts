/** Stores the position of an import in a small file, so that the next run continues where a killed one stopped. */
import { appendFile, mkdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Totals {
  received: number
  recorded: number
  deduped: number
  failed: number
}

/** Every row up to `position` is recorded or has failed. `failureBytes`: length of the failures file for these rows. */
export interface ImportProgress extends Totals {
  file: string
  position: number
  failureBytes: number
}

export interface Journal {
  failuresFile: string
  start: ImportProgress
  /** Stores the outcomes of rows: first their failures (JSON lines), then the position. */
  advance(progress: ImportProgress, failures: string): Promise<void>
  /** Ends the import: the next run starts at the first row. Deletes an empty failures file. */
  finish(): Promise<void>
  /** Makes the next run start at the first row. The failures remain. */
  forgetPosition(): Promise<void>
}

/** Opens the journal of the import `id` in `directory`. `restart` ignores the position of an earlier run. */
export async function openJournal(directory: string, id: string, file: string, restart: boolean): Promise<Journal> {
  const positionFile = join(directory, `${id}.json`)
  const failuresFile = join(directory, `${id}.failures.ndjson`)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const start = restart ? undefined : await readProgress(positionFile)
  let isOpened = false
  /**
   * Opens the failures file at the first outcome of this run, so that a rejected import does not change the file of the
   * previous run.
   */
  const openFailures = async (): Promise<void> => {
    if (isOpened) return
    await appendFile(failuresFile, '', { mode: 0o600 })
    await truncate(failuresFile, start?.failureBytes ?? 0)
    isOpened = true
  }
  const forgetPosition = (): Promise<void> => rm(positionFile, { force: true })
  return {
    failuresFile,
    start: start ?? { file, position: 0, failureBytes: 0, received: 0, recorded: 0, deduped: 0, failed: 0 },
    forgetPosition,
    async advance(progress, failures) {
      await openFailures()
      if (failures) await appendFile(failuresFile, failures)
      await writeFile(`${positionFile}.new`, JSON.stringify(progress), { mode: 0o600 })
      await rename(`${positionFile}.new`, positionFile)
    },
    async finish() {
      await openFailures()
      await forgetPosition()
      if ((await stat(failuresFile)).size === 0) await rm(failuresFile)
    },
  }
}

async function readProgress(file: string): Promise<ImportProgress | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ImportProgress
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
