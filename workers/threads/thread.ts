import type { MessagePort } from 'node:worker_threads'
import type { Config } from '../../src/config.ts'
import type { StoreUrls } from '../../src/stores/data-dir.ts'
import type { Logger } from '../../src/log.ts'
import type { Metrics } from '../../src/metrics.ts'

/** The configuration with the resolved addresses of the stores. */
export type WorkerConfig = Config & StoreUrls

export interface ThreadTask {
  name: string
  config: WorkerConfig
  port: MessagePort
}

/** A command to a thread. */
export type ThreadCommand = 'stop' | 'report metrics'

export interface ThreadReport {
  /** The problem that delays work without failing requests, as text. */
  trouble: string | undefined
  /** The problem that prevents work, as text. */
  blocked: string | undefined
  /** `Registry.getMetricsAsJSON()`, if it was requested. */
  metrics?: object[]
}

export interface ThreadTools {
  name: string
  log: Logger
  metrics: Metrics
  /** Undefined clears the report. */
  reportDegraded: (trouble: string | undefined) => void
  /** Undefined clears the report. */
  reportBlocked: (blocked: string | undefined) => void
}

/** Resolves when `signal` has aborted and everything is closed; rejects when the loop fails. */
export type ThreadBody = (config: WorkerConfig, tools: ThreadTools, signal: AbortSignal) => Promise<void>
