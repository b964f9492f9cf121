import { randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineProcess } from './processes/run-engine.ts'
import type { Step } from './start-steps.ts'

/** User and database name, for the engines that have them. */
export const USER = 'sluice'
export const DATABASE = 'sluice'

/** An address on the loopback interface. */
export interface Address {
  port: number
  password: string
}

export interface EngineSetup extends Address {
  /** Absolute path. */
  dataDir: string
  /**
   * For tests: less memory, cheap logins, no fsync (which loses nothing when a process is killed), and normal priority.
   */
  small: boolean
  /** For tests: the directory is a file system in memory, so ClickHouse does not check for failed reads and writes. */
  inMemory?: boolean
  timeoutMs: number
  /** Says what the start is doing. */
  step: Step
  /** When it aborts, the start must reject soon, and leave nothing running. */
  signal: AbortSignal
}

export interface RunningEngine extends EngineProcess {
  url: string
}

/** The file with Sluice's password, which is the same in all engines, or with another user's password. */
export const passwordFile = (dataDir: string, user?: string): string =>
  join(dataDir, user === undefined ? 'password' : `${user}-password`)

/**
 * Replaces a file atomically: readers see the old or the new content, even after a power cut. Only the owner may read
 * it.
 */
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

/** Returns the content of the file. Creates the file with random bytes in hex if it does not exist. */
export async function ensureSecret(file: string, bytes = 24): Promise<string> {
  const stored = await readFile(file, 'utf8').catch(() => '')
  if (stored) return stored
  const secret = randomBytes(bytes).toString('hex')
  await writeWhole(file, secret)
  return secret
}
