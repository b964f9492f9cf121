import { randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineProcess } from './run-engine.ts'

/** The user and the database of the engines that have them. */
export const USER = 'sluice'
export const DATABASE = 'sluice'

/** On loopback. */
export interface Address {
  port: number
  password: string
}

export interface EngineSetup extends Address {
  /** Absolute. */
  dataDir: string
  /** For tests: less memory, no wait for the disk (a killed process loses nothing by that), and no way given to others. */
  small: boolean
  timeoutMs: number
  /** Aborted: the start is not wanted any more, and is to reject soon, with nothing left running. */
  signal: AbortSignal
}

export interface RunningEngine extends EngineProcess {
  url: string
}

/** Of Sluice itself in all engines, or of another user. */
export const passwordFile = (dataDir: string, user?: string): string =>
  join(dataDir, user === undefined ? 'password' : `${user}-password`)

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

/** What the file holds; a random password where there is no file yet. */
export async function ensureSecret(file: string): Promise<string> {
  const kept = await readFile(file, 'utf8').catch(() => '')
  if (kept) return kept
  const secret = randomBytes(24).toString('hex')
  await writeWhole(file, secret)
  return secret
}
