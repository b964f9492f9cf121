import { env } from 'node:process'
import { join } from 'node:path'

export interface EngineCommand {
  name: string
  dataDir: string
  /** The engine's directory below dataDir, and its working directory, by which a leftover is recognised. */
  folder: string
  command: string[]
  /** Its complete environment. */
  environment: Record<string, string>
  /** The signal for a clean stop. */
  signal: 'INT' | 'TERM'
  /** How long a leftover of a killed `start` may take to stop before it is killed. */
  patienceMs?: number
}

/** The name of the shell that runs an engine, in its command line. The path of the file with the process number follows. */
export const WATCHDOG_NAME = 'sluice-engine'

export const logFile = (engine: EngineCommand): string => join(engine.dataDir, `${engine.name}.log`)
/** The file with the engine's process number; only its watchdog, or the next start, removes it. */
export const pidFile = (engine: Pick<EngineCommand, 'name' | 'dataDir'>): string =>
  join(engine.dataDir, `${engine.name}.pid`)

const HARMLESS = /^(?:PATH|LANG|LANGUAGE|LC_\w+|TMPDIR)$/

/** The environment of an engine: what programs need to run, without an operator's secrets. */
export function plainEnvironment(): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(entries.filter(([name]) => HARMLESS.test(name))), TZ: 'UTC' }
}

/** The environment of a process of Sluice: all variables except these. */
export function environmentWithout(...names: string[]): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(entries.filter(([name]) => !names.includes(name)))
}
