import { rename, writeFile } from 'node:fs/promises'
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
}

export interface RunningEngine extends EngineProcess {
  url: string
}

export const passwordFile = (dataDir: string): string => join(dataDir, 'password')

/** A reader sees the old file or the new one; nobody else may read it. */
export async function writeWhole(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
