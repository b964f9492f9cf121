/**
 * What killed runs left behind. A run's folder carries the number of its process, so that a dead one's is known. The
 * engines of a dead run end with it, by the pipe that run-engine.ts holds; one that was frozen does not hear of it.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf, isBelow } from './processes.ts'
import { unmountBelow } from './small-disk.ts'

const NAME = /^sluice-faults-(\d+)-/
/** A run that was asked to keep its folder leaves this in it. */
const KEPT = 'kept'
const PATIENCE_MS = 10_000

/** A folder of this run's own, gone with the next run at the latest. */
export async function createRunFolder(parent = tmpdir()): Promise<string> {
  await mkdir(parent, { recursive: true })
  return mkdtemp(join(parent, `sluice-faults-${process.pid}-`))
}

export const keepRunFolder = (folder: string): Promise<void> => writeFile(join(folder, KEPT), '')

/** Ends the processes of dead runs and removes their folders; resolves with those. Nothing of a live run is touched. */
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

/** A watchdog that is about to end may write into it meanwhile: then the folder is there again, though `rm` reported nothing. */
async function removeFolder(folder: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  do {
    await rm(folder, { recursive: true, force: true })
    if (!existsSync(folder)) return
    await sleep(20)
  } while (Date.now() < deadline)
}

/** Those that the run noted, with their children, as far as they still work in its folder: a number may have been given anew. */
async function endProcesses(folder: string, names: string[]): Promise<void> {
  const files = names.filter((name) => name.endsWith('.pid'))
  // A watchdog that is at its end removes its file.
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')))
  const noted = texts.map(Number).filter(Boolean)
  const running = async (pids: number[]) =>
    (await Promise.all(pids.map(async (pid) => ((await isBelow(pid, folder)) ? [pid] : [])))).flat()
  const parents = await running(noted)
  const all = [...parents, ...(await running((await Promise.all(parents.map(childrenOf))).flat()))]
  for (const pid of all) killIfAlive(pid)
  const deadline = Date.now() + PATIENCE_MS
  while ((await running(all)).length > 0 && Date.now() < deadline) await sleep(20)
}

/** Another user's process counts as alive too, though it must not be signalled. */
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
