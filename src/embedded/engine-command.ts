import { env } from 'node:process'
import { join } from 'node:path'

export interface EngineCommand {
  name: string
  dataDir: string
  /** The engine's own directory below dataDir, and its working directory: that is how a leftover of it is recognised. */
  folder: string
  command: string[]
  /** All that it finds in its environment. */
  environment: Record<string, string>
  /** What makes it stop cleanly. */
  signal: 'INT' | 'TERM'
  /** How long one that a killed `start` left may take to stop; then it is killed. */
  patienceMs?: number
}

/** Of the shell that runs an engine, in its command line. The path of the file with the process number follows. */
export const WATCHDOG_NAME = 'sluice-engine'

export const logFile = (engine: EngineCommand): string => join(engine.dataDir, `${engine.name}.log`)
/** Names the engine's process; only its own watchdog, or the next start, removes it. */
export const pidFile = (engine: Pick<EngineCommand, 'name' | 'dataDir'>): string =>
  join(engine.dataDir, `${engine.name}.pid`)

const HARMLESS = /^(?:PATH|LANG|LANGUAGE|LC_\w+|TMPDIR)$/

/** For an engine: what programs need to run, and nothing that an operator keeps secret. */
export function plainEnvironment(): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(entries.filter(([name]) => HARMLESS.test(name))), TZ: 'UTC' }
}

/** For a process of our own: all but these settings. */
export function environmentWithout(...names: string[]): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(entries.filter(([name]) => !names.includes(name)))
}
