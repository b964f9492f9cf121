import type { MessagePort } from 'node:worker_threads'
import type { Config } from '../../src/config.ts'
import type { StoreUrls } from '../../src/stores/data-dir.ts'
import type { Logger } from '../../src/log.ts'
import type { Metrics } from '../../src/metrics.ts'

/** With the addresses of the stores found. */
export type WorkerConfig = Config & StoreUrls

export interface ThreadTask {
  name: string
  config: WorkerConfig
  port: MessagePort
}

/** A command to a thread. */
export type ThreadCommand = 'stop' | 'report metrics'

export interface ThreadReport {
  /** What delays its work but fails no request, as text. */
  trouble: string | undefined
  /** What prevents its work, as text. */
  blocked: string | undefined
  /** `Registry.getMetricsAsJSON()`, when they were asked for. */
  metrics?: object[]
}

export interface ThreadTools {
  name: string
  log: Logger
  metrics: Metrics
  /** Undefined clears it. */
  reportDegraded: (trouble: string | undefined) => void
  /** Undefined clears it. */
  reportBlocked: (blocked: string | undefined) => void
}

/** Resolves once `signal` has aborted and everything is closed; rejects when the loop fails. */
export type ThreadBody = (config: WorkerConfig, tools: ThreadTools, signal: AbortSignal) => Promise<void>
