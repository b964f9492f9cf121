/**
 * Removes what killed runs left. The name of a run's folder contains its process ID, so a dead run is recognised. The
 * engines of a dead run end with it, through the pipe of run-engine.ts, except frozen ones, which cannot react.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf, isBelow } from './processes.ts'
import { unmountBelow } from './small-disk.ts'

const NAME = /^sluice-faults-(\d+)-/
/** A run that was asked to keep its folder leaves this file in it. */
const KEPT = 'kept'
const PATIENCE_MS = 10_000

/** Creates the folder of this run. The next run removes it at the latest. */
export async function createRunFolder(parent = tmpdir()): Promise<string> {
  await mkdir(parent, { recursive: true })
  return mkdtemp(join(parent, `sluice-faults-${process.pid}-`))
}

export const keepRunFolder = (folder: string): Promise<void> => writeFile(join(folder, KEPT), '')

/** Ends the processes of dead runs and removes their folders; resolves with those. Does not touch live runs. */
export async function removeLeftovers(parent = tmpdir()): Promise<string[]> {
  const dead = (await readdir(parent)).filter((name) => {
    const [, pid] = NAME.exec(name) ?? []
    return pid !== undefined && !isAlive(Number(pid))
  })
  const removed = await Promise.all(dead.map((name) => removeRun(join(parent, name))))
  return removed.flat()
}

async function removeRun(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => [])
  await endProcesses(folder, names)
  if (names.includes(KEPT)) return []
  await unmountBelow(folder)
  await removeFolder(folder)
  return [folder]
}

/**
 * A watchdog that is about to end may still write to the folder, which then exists again although `rm` reported no
 * error.
 */
async function removeFolder(folder: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  do {
    await rm(folder, { recursive: true, force: true })
    if (!existsSync(folder)) return
    await sleep(20)
  } while (Date.now() < deadline)
}

/**
 * Ends the processes that the run recorded and their children, if they still work in its folder, because a process ID
 * may have been reused.
 */
async function endProcesses(folder: string, names: string[]): Promise<void> {
  const files = names.filter((name) => name.endsWith('.pid'))
  // A watchdog removes its file when it ends.
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')))
  const recordedPids = texts.map(Number).filter(Boolean)
  const running = async (pids: number[]) =>
    (await Promise.all(pids.map(async (pid) => ((await isBelow(pid, folder)) ? [pid] : [])))).flat()
  const parents = await running(recordedPids)
  const all = [...parents, ...(await running((await Promise.all(parents.map(childrenOf))).flat()))]
  for (const pid of all) killIfAlive(pid)
  const deadline = Date.now() + PATIENCE_MS
  while ((await running(all)).length > 0 && Date.now() < deadline) await sleep(20)
}

/** A process of another user counts as alive, although it must not be signalled. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function killIfAlive(pid: number): void {
  if (isAlive(pid)) process.kill(pid, 'SIGKILL')
}
