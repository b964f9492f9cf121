/** Runs long-running tasks on threads, and restarts them when they die. */
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { backoffMs } from '../src/async/backoff.ts'
import type { Logger } from '../src/log.ts'
import { sleep } from '../src/async/sleep.ts'
import type { ThreadCommand, ThreadReport, ThreadTask, WorkerConfig } from './threads/thread.ts'

const RESTART = { firstMs: 250, maxMs: 10_000 }
/** After a run of at least this many milliseconds, the next restart is quick again. */
const STEADY_MS = 60_000
/** Milliseconds that a request for metrics waits for a busy thread. */
const METRICS_MS = 1000

export type ThreadKind = 'ingest' | 'lowPriorityIngest' | 'timeline' | 'segments' | 'campaigns' | 'deliveries'

export interface SupervisedThread {
  name: string
  /**
   * The last report since the (re)start, with its time on the clock of `performance.now()`; undefined before the first
   * one.
   */
  report(): { trouble: string | undefined; blocked: string | undefined; at: number } | undefined
  /** Current result of `Registry.getMetricsAsJSON()`, or the last one of a thread that is too busy. */
  metrics(): Promise<object[]>
  /** Asks the thread to finish; resolves when it has. */
  stop(): Promise<void>
}

/**
 * One thread per long-running task.
 *
 * @param niceness niceness of the threads, added to that of the process
 */
export function createPool(threads: number, niceness: number): Piscina {
  return new Piscina({
    filename: new URL('threads/task.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    atomics: 'disabled',
    niceIncrement: niceness,
  })
}

interface SuperviseOptions {
  kind: ThreadKind
  /**
   * Unique among the threads of all machines, and the same after a restart, so that the thread gets its partitions back
   * at once.
   */
  name: string
  config: WorkerConfig
  log: Logger
}

/** Runs the task until `stop`. When the task ends or dies, logs that and restarts it, with a growing delay. */
export function superviseThread(pool: Piscina, { kind, name, config, log }: SuperviseOptions): SupervisedThread {
  const stopping = new AbortController()
  let report: ReturnType<SupervisedThread['report']>
  let metrics: object[] = []
  let metricsReported = new AbortController()
  let sendCommand: (command: ThreadCommand) => void = () => undefined

  const receive = (received: ThreadReport): void => {
    report = { trouble: received.trouble, blocked: received.blocked, at: performance.now() }
    if (!received.metrics) return
    metrics = received.metrics
    metricsReported.abort()
  }
  const runOnce = async (): Promise<void> => {
    const { port1, port2 } = new MessageChannel()
    sendCommand = (command) => port1.postMessage(command)
    const stop = (): void => port1.postMessage('stop' satisfies ThreadCommand)
    stopping.signal.addEventListener('abort', stop)
    port1.on('message', receive)
    try {
      const task: ThreadTask = { name, config, port: port2 }
      // The declared type uses the other overload of postMessage, which requires an array.
      const transferList: object = [port2]
      await pool.run(task, { name: kind, transferList })
    } finally {
      stopping.signal.removeEventListener('abort', stop)
      report = undefined
      metrics = []
      sendCommand = () => undefined
      port1.close()
    }
  }
  const keepRunning = async (): Promise<void> => {
    let crashes = 0
    while (!stopping.signal.aborted) {
      const started = performance.now()
      const error = await runOnce().then(
        () => new Error('It ended by itself.'),
        (cause: unknown) => cause,
      )
      if (stopping.signal.aborted) return
      crashes = performance.now() - started > STEADY_MS ? 1 : crashes + 1
      const restartMs = Math.round(backoffMs(crashes, RESTART))
      log.error({ err: error, thread: kind, restartMs }, 'a thread died and is started again')
      await sleep(restartMs, stopping.signal)
    }
  }

  const ended = keepRunning()
  return {
    name,
    report: () => report,
    async metrics() {
      if (!report) return []
      if (metricsReported.signal.aborted) metricsReported = new AbortController()
      sendCommand('report metrics')
      await sleep(METRICS_MS, metricsReported.signal)
      return metrics
    },
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
