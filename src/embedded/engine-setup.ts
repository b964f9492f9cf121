import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineProcess } from './run-engine.ts'

/** The user and the database of the engines that have them. */
export const USER = 'sluice'
export const DATABASE = 'sluice'

export interface EngineSetup {
  /** Absolute. */
  dataDir: string
  port: number
  password: string
  /** For tests: less memory. */
  small: boolean
  timeoutMs: number
  /** Aborted: the start is not wanted any more, and is to reject soon, with nothing left running. */
  signal: AbortSignal
}

export interface RunningEngine extends EngineProcess {
  url: string
}

export const passwordFile = (dataDir: string): string => join(dataDir, 'password')

/** A reader sees the old file or the new one, after a power cut too; nobody else may read it. */
export async function writeWhole(file: string, content: string): Promise<void> {
  const handle = await open(`${file}.new`, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.new`, file)
}
