/**
 * Stops the processes that a killed `start` has left running: an engine that is still stopping or is frozen, and its
 * watchdog shells. Waits until all of them have ended, so that they cannot block the next engine or change its files.
 */
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EngineCommand, pidFile, WATCHDOG_NAME } from './engine-command.ts'

/**
 * Milliseconds before a leftover is killed. Postgres writes a checkpoint when it stops, but every engine recovers from
 * a kill.
 */
const PATIENCE_MS = 3000
const POLL_MS = 20

interface Process {
  pid: number
  parent: number
  /** Stopped by a signal or a debugger, so it does not react to a signal to end. */
  isFrozen: boolean
  words: string[]
}

/** Rejects when `signal` is aborted. */
export async function stopLeftover(engine: EngineCommand, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + (engine.patienceMs ?? PATIENCE_MS)
  const recordedPid = await readPid(engine)
  if (recordedPid !== undefined) signalIfAlive(recordedPid, `SIG${engine.signal}`)
  for (;;) {
    const left = await findLeftovers(engine, recordedPid)
    if (left.length === 0) break
    if (Date.now() >= deadline || left.some(({ isFrozen }) => isFrozen)) {
      for (const { pid } of left) signalIfAlive(pid, 'SIGKILL')
    }
    await sleep(POLL_MS, undefined, { signal })
  }
  await rm(pidFile(engine), { force: true })
}

/** The process number in the engine's file; undefined when the process is gone. */
async function readPid(engine: EngineCommand): Promise<number | undefined> {
  const pid = Number(await readFile(pidFile(engine), 'utf8').catch(() => ''))
  return pid && (await runsIn(pid, engine.folder)) ? pid : undefined
}

/** The engine, its watchdogs (even one that has not written its file yet), and their child processes. */
async function findLeftovers(engine: EngineCommand, recordedPid: number | undefined): Promise<Process[]> {
  const all = await readProcesses()
  const file = pidFile(engine)
  const isWatchdog = ({ words }: Process) => words.includes(WATCHDOG_NAME) && words.includes(file)
  const left = all.filter((one) => one.pid === recordedPid || isWatchdog(one))
  for (const parent of left) left.push(...all.filter((one) => one.parent === parent.pid && !left.includes(one)))
  return left
}

/** All processes, without zombies. Empty on systems without /proc. */
async function readProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter(Boolean)
  const found = await Promise.all(pids.map(readProcess))
  return found.filter((one) => one !== undefined)
}

async function readProcess(pid: number): Promise<Process | undefined> {
  try {
    const [stat, words] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    // `pid (name) state parent …`; the name may contain any characters.
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (/[ZX]/.test(state)) return undefined
    return { pid, parent: Number(parent), isFrozen: /[Tt]/.test(state), words: words.split('\0') }
  } catch {
    return undefined
  }
}

/**
 * Returns whether the process has this working directory, because its process ID may have been reused. Works only on
 * Linux; on other systems nothing is recognised as a leftover.
 */
export async function runsIn(pid: number, folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => folder)
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === real
}

export function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
