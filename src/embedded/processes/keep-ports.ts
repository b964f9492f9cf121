import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../async/sleep.ts'
import type { Logger } from '../../log.ts'
import { pidFile } from './engine-command.ts'
import { writeWhole } from '../engine-setup.ts'
import { freePort, isFree } from './run-engine.ts'
import { runsIn } from './stop-leftover.ts'

const DYING_MS = 2000
const POLL_MS = 50

type Ports = Record<string, number>

const portsFile = (dataDir: string): string => join(dataDir, 'ports.json')

/**
 * Returns the ports of these engines. They are chosen once and kept over restarts, so that analysts' tools find
 * ClickHouse on the same port. If another program has taken a port, the engine gets a new one permanently, and the log
 * reports it.
 */
export async function keepPorts(dataDir: string, names: string[], log: Logger): Promise<Ports> {
  const stored = await readPorts(dataDir)
  const entries = names.map(async (name) => [name, await choosePort(dataDir, name, stored[name], log)] as const)
  const ports = { ...stored, ...Object.fromEntries(await Promise.all(entries)) }
  await writeWhole(portsFile(dataDir), `${JSON.stringify(ports, null, 2)}\n`)
  return ports
}

async function choosePort(dataDir: string, name: string, stored: number | undefined, log: Logger): Promise<number> {
  if (stored !== undefined && (await becomesFree(stored, dataDir, name))) return stored
  const port = await freePort()
  if (stored !== undefined)
    log.warn(
      { engine: name, port, was: stored },
      'another program uses the port of an engine: the engine has a new port',
    )
  return port
}

/** A process that was just killed has its port until the last of its threads has ended. */
async function becomesFree(port: number, dataDir: string, name: string): Promise<boolean> {
  for (let waited = 0; waited < DYING_MS; waited += POLL_MS) {
    if ((await isFree(port)) || (await isLeftover(dataDir, name))) return true
    await sleep(POLL_MS)
  }
  return false
}

/**
 * Returns whether the engine of a killed `start` still has its port. Such an engine is stopped before the next one
 * starts.
 */
async function isLeftover(dataDir: string, name: string): Promise<boolean> {
  const folder = join(dataDir, name)
  const pid = Number(await readFile(pidFile({ name, dataDir }), 'utf8').catch(() => ''))
  return pid > 0 && (await runsIn(pid, folder))
}

/** Empty when the file does not exist or is incomplete. */
async function readPorts(dataDir: string): Promise<Ports> {
  try {
    const ports = JSON.parse(await readFile(portsFile(dataDir), 'utf8')) as Ports
    return Object.fromEntries(Object.entries(ports).filter(([, port]) => Number.isInteger(port) && port > 0))
  } catch {
    return {}
  }
}
