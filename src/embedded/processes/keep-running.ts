/** Keeps one process running: restarts it whenever it ends. */
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../../async/backoff.ts'
import { isFullDiskError } from '../../stores/full-disk.ts'
import type { RunningEngine } from '../engine-setup.ts'

export interface ProcessOptions {
  name: string
  /** Data folder of an engine. */
  folder?: string
  /** Logs each end of the process; `facts` contain the engine and the end of its log. */
  log: { error(facts: object, message: string): void }
  /** Must reject soon after `signal` aborts, and must leave nothing running. */
  start(signal: AbortSignal): Promise<RunningEngine>
  /** Aborts the first start. `stop` aborts later ones. */
  signal?: AbortSignal | undefined
}

export interface SupervisedProcess {
  url: string
  stop(): Promise<void>
}

const RESTART = { firstMs: 200, maxMs: 5000 }
/** After a run of at least this many milliseconds, the next restart is quick again. */
const STEADY_MS = 60_000

/**
 * Starts the process, then restarts it whenever it ends, with growing delays. Rejects if the first start fails; later
 * starts are retried.
 */
export async function keepRunning(options: ProcessOptions): Promise<SupervisedProcess> {
  const stopping = new AbortController()
  let engine = await options.start(options.signal ?? stopping.signal)
  const watch = async () => {
    for (let failures = 0; ;) {
      const started = performance.now()
      const lastWords = await engine.exited
      if (stopping.signal.aborted) return
      failures = performance.now() - started > STEADY_MS ? 1 : failures + 1
      await logFailure(options, { lastWords }, 'ended; starting it again')
      engine = await startAgain(options, failures, stopping.signal)
      if (stopping.signal.aborted) return await engine.stop()
    }
  }
  const watched = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error
  })
  return {
    url: engine.url,
    stop: async () => {
      stopping.abort()
      await engine.stop()
      await watched
    },
  }
}

async function startAgain(options: ProcessOptions, failures: number, signal: AbortSignal): Promise<RunningEngine> {
  for (let failed = failures; ; failed += 1) {
    await sleep(backoffMs(failed, RESTART), undefined, { signal })
    try {
      return await options.start(signal)
    } catch (error) {
      signal.throwIfAborted()
      await logFailure(options, { err: error }, 'does not start; trying again')
    }
  }
}

type Cause = { lastWords: string } | { err: unknown }

/** Logs the failure. Points out a full disk, the only trouble that does not end without the operator. */
async function logFailure({ name, folder, log }: ProcessOptions, cause: Cause, message: string): Promise<void> {
  const isFull = isFullDiskError('err' in cause ? cause.err : cause.lastWords) || (await isDiskFull(folder))
  log.error(
    { engine: name, ...(isFull && { folder }), ...cause },
    isFull ? `${message}: ITS DISK IS FULL, free some space` : message,
  )
}

/**
 * With less free space than this nothing starts, and the engine's own message may not have fitted on the disk either.
 */
const FULL_BYTES = 16 * 1024 * 1024

async function isDiskFull(folder: string | undefined): Promise<boolean> {
  const disk = folder === undefined ? undefined : await statfs(folder).catch(() => undefined)
  return disk !== undefined && disk.bavail * disk.bsize < FULL_BYTES
}
