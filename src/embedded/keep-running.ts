/** One process that has to be there: whenever it ends it is started again. */
import { backoffMs } from '../async/backoff.ts'
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFullDiskError } from '../stores/full-disk.ts'
import type { RunningEngine } from './engine-setup.ts'

export interface Keeping {
  name: string
  /** Where an engine has its data. */
  folder?: string
  /** Told of each end; the facts say which engine, and its last words. */
  log: { error(facts: object, message: string): void }
  /** Rejects soon once `signal` is aborted, with nothing left running. */
  start(signal: AbortSignal): Promise<RunningEngine>
  /** Ends the first start; later ones end with `stop`. */
  signal?: AbortSignal | undefined
}

export interface Kept {
  url: string
  stop(): Promise<void>
}

const RESTART = { firstMs: 200, maxMs: 5000 }
/** What ran for so long is well: after its end the next start is quick again. */
const STEADY_MS = 60_000

/** Starts it, then starts it again whenever it ends, ever slower. The first start may fail, later ones are repeated. */
export async function keepRunning(keeping: Keeping): Promise<Kept> {
  const stopping = new AbortController()
  let engine = await keeping.start(keeping.signal ?? stopping.signal)
  const watch = async () => {
    for (let failures = 0; ;) {
      const started = performance.now()
      const lastWords = await engine.exited
      if (stopping.signal.aborted) return
      failures = performance.now() - started > STEADY_MS ? 1 : failures + 1
      await tell(keeping, { lastWords }, 'ended; starting it again')
      engine = await startAgain(keeping, failures, stopping.signal)
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

async function startAgain(keeping: Keeping, failures: number, signal: AbortSignal): Promise<RunningEngine> {
  for (let failed = failures; ; failed += 1) {
    await sleep(backoffMs(failed, RESTART), undefined, { signal })
    try {
      return await keeping.start(signal)
    } catch (error) {
      signal.throwIfAborted()
      await tell(keeping, { err: error }, 'does not start; trying again')
    }
  }
}

type Words = { lastWords: string } | { err: unknown }

/** A full disk is told as such: it is the one trouble that does not pass without the operator. */
async function tell({ name, folder, log }: Keeping, words: Words, message: string): Promise<void> {
  const isFull = isFullDiskError('err' in words ? words.err : words.lastWords) || (await hasHardlyRoom(folder))
  log.error(
    { engine: name, ...(isFull && { folder }), ...words },
    isFull ? `${message}: ITS DISK IS FULL, make room` : message,
  )
}

/** With so little left nothing starts, and what it said of that may not have fitted on the disk either. */
const HARDLY_ANY_BYTES = 16 * 1024 * 1024

async function hasHardlyRoom(folder: string | undefined): Promise<boolean> {
  const disk = folder === undefined ? undefined : await statfs(folder).catch(() => undefined)
  return disk !== undefined && disk.bavail * disk.bsize < HARDLY_ANY_BYTES
}
