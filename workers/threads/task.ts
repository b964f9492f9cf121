/**
 * What Piscina calls: each long-running task by its name. Signals do not cross threads, so the supervisor's word to stop
 * comes through a port, and the thread's metrics go back through it.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Config, StoreUrls } from '../../src/config.ts'
import { type Logger, createLogger } from '../../src/log.ts'
import { type Metrics, createMetrics } from '../../src/metrics.ts'
import { runDeliveries } from './deliveries.ts'
import { runIngest } from './ingest.ts'
import { runTimeline } from './timeline.ts'

/** With the addresses of the stores found. */
export type WorkerConfig = Config & StoreUrls

export interface ThreadTask {
  name: string
  config: WorkerConfig
  port: MessagePort
}

export interface ThreadReport {
  /** `Registry.getMetricsAsJSON()` */
  metrics: object[]
  /** In words, what delays its work and fails no request. */
  trouble: string | undefined
}

export interface ThreadTools {
  name: string
  log: Logger
  metrics: Metrics
  /** Undefined: none any more. */
  tellTrouble: (trouble: string | undefined) => void
}

/** Resolves once `signal` aborted and everything is put away; rejects when the loop died. */
export type ThreadBody = (config: WorkerConfig, tools: ThreadTools, signal: AbortSignal) => Promise<void>

const REPORT_MS = 1000

export const ingest = (task: ThreadTask): Promise<void> => runTask(task, 'ingest', runIngest)
export const timeline = (task: ThreadTask): Promise<void> => runTask(task, 'timeline', runTimeline)
export const deliveries = (task: ThreadTask): Promise<void> => runTask(task, 'deliveries', runDeliveries)

async function runTask({ name, config, port }: ThreadTask, kind: string, body: ThreadBody): Promise<void> {
  const log = createLogger({ level: config.logLevel, name: kind })
  const metrics = createMetrics()
  // The memory is the process's, which the supervisor tells.
  metrics.registry.removeSingleMetric('process_resident_memory_bytes')
  const stopping = new AbortController()
  port.on('message', () => stopping.abort())
  let trouble: string | undefined
  const tellTrouble = (told: string | undefined) => void (trouble = told)
  const report = async (): Promise<void> => {
    const figures = await metrics.registry.getMetricsAsJSON()
    port.postMessage({ metrics: figures, trouble } satisfies ThreadReport)
  }
  const reporting = setInterval(() => void report(), REPORT_MS)
  try {
    await body(config, { name, log, metrics, tellTrouble }, stopping.signal)
  } finally {
    clearInterval(reporting)
    port.close()
  }
}
