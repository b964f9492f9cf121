import { env } from 'node:process'
import { join } from 'node:path'

export interface EngineCommand {
  name: string
  dataDir: string
  /** The engine's directory below dataDir. Also its working directory, by which a leftover process is recognised. */
  folder: string
  command: string[]
  /** The complete environment of the engine. */
  environment: Record<string, string>
  /** The signal for a clean shutdown. */
  signal: 'INT' | 'TERM'
  /** Milliseconds that a leftover of a killed `start` gets to stop before it is killed. */
  patienceMs?: number
}

/** Name of the shell that runs an engine, in its command line. The path of the PID file follows. */
export const WATCHDOG_NAME = 'sluice-engine'

export const logFile = (engine: EngineCommand): string => join(engine.dataDir, `${engine.name}.log`)
/** The file with the engine's process ID. Only the engine's watchdog, or the next start, removes it. */
export const pidFile = (engine: Pick<EngineCommand, 'name' | 'dataDir'>): string =>
  join(engine.dataDir, `${engine.name}.pid`)

const HARMLESS = /^(?:PATH|LANG|LANGUAGE|LC_\w+|TMPDIR)$/

/** Returns the environment of an engine: the variables that programs need, without the operator's secrets. */
export function plainEnvironment(): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(entries.filter(([name]) => HARMLESS.test(name))), TZ: 'UTC' }
}

/** Returns the environment of a Sluice process: all variables except these. */
export function environmentWithout(...names: string[]): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(entries.filter(([name]) => !names.includes(name)))
}
