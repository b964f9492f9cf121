/** One process of the product that a test can stop, kill, pause and restart: an engine, a front door, workers. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineProcess } from '../../src/embedded/processes/run-engine.ts'
import { childrenOf } from './processes.ts'

/** An engine may do neither: serve nor end. Its scenario fails then, and does not wait for ever. */
const END_MS = 120_000

export interface Handle {
  name: string
  /** Resolves when it is ready. */
  start(): Promise<void>
  /** Kills it like a crash; resolves when it has ended. */
  kill(): Promise<void>
  /** Asks it to end with this signal; resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Freezes it and its children: connections stay open, but nothing is processed. */
  pause(): Promise<void>
  resume(): Promise<void>
  isRunning(): boolean
  /** Resolves when it has ended, for any reason. */
  ended(): Promise<void>
}

/** `start` runs the process and resolves when it is ready. Its process ID is in `<folder>/<name>.pid`. */
export function createHandle(name: string, folder: string, start: () => Promise<EngineProcess>): Handle {
  let running: EngineProcess | undefined
  let frozen: number[] = []
  const readPid = async () => {
    const pid = Number(await readFile(join(folder, `${name}.pid`), 'utf8'))
    // 0 would signal this process and its whole group.
    if (!(pid > 0)) throw new Error(`Nobody knows the number of ${name}`)
    return pid
  }

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = running
    if (!ending) return
    const pid = await readPid()
    process.kill(pid, signal)
    const isLate = await Promise.race([ending.exited.then(() => false), sleep(END_MS, true, { ref: false })])
    if (isLate) process.kill(pid, 'SIGKILL')
    await ending.exited
    running = undefined
    if (isLate) throw new Error(`${name} did not end within ${END_MS} ms of ${signal}`)
  }
  return {
    name,
    async start() {
      running = await start()
    },
    kill: () => end('SIGKILL'),
    stop: (signal = 'SIGTERM') => end(signal),
    async pause() {
      const pid = await readPid()
      process.kill(pid, 'SIGSTOP')
      frozen = [pid]
      // A paused parent starts no more children.
      for (const child of await childrenOf(pid)) {
        process.kill(child, 'SIGSTOP')
        frozen.push(child)
      }
    },
    resume() {
      for (const pid of frozen.reverse()) process.kill(pid, 'SIGCONT')
      frozen = []
      return Promise.resolve()
    },
    isRunning: () => running !== undefined,
    async ended() {
      const ending = running
      await ending?.exited
      if (running === ending) running = undefined
    },
  }
}
