/** One process of the product that a test may stop, kill, pause and bring back: an engine, a front door, workers. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineProcess } from '../../src/embedded/run-engine.ts'
import { childrenOf } from './processes.ts'

export interface Handle {
  name: string
  /** Resolves when it is ready. */
  start(): Promise<void>
  /** As a crash does it; resolves when it is gone. */
  kill(): Promise<void>
  /** Asks it to end with this signal; resolves when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Freezes it, children included: its connections stay open and nothing moves. */
  pause(): Promise<void>
  resume(): Promise<void>
  isRunning(): boolean
  /** Resolves when it has ended by itself, or was ended. */
  ended(): Promise<void>
}

/** `start` runs it and resolves when it is ready; its number is in `<folder>/<name>.pid`. */
export function createHandle(name: string, folder: string, start: () => Promise<EngineProcess>): Handle {
  let running: EngineProcess | undefined
  let frozen: number[] = []
  const readPid = async () => {
    const pid = Number(await readFile(join(folder, `${name}.pid`), 'utf8'))
    // 0 would be this process and all that belong to it.
    if (!(pid > 0)) throw new Error(`Nobody knows the number of ${name}`)
    return pid
  }

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = running
    if (!ending) return
    process.kill(await readPid(), signal)
    await ending.exited
    running = undefined
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
      // Of a paused parent there come no more.
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
