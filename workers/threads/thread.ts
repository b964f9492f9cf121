import type { MessagePort } from 'node:worker_threads'
import type { Config, StoreUrls } from '../../src/config.ts'
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
  /** In words, what delays its work and fails no request. */
  trouble: string | undefined
  /** In words, what keeps it from its work. */
  blocked: string | undefined
  /** `Registry.getMetricsAsJSON()`, when they were asked for. */
  metrics?: object[]
}

export interface ThreadTools {
  name: string
  log: Logger
  metrics: Metrics
  /** Undefined: none any more. */
  reportDegraded: (trouble: string | undefined) => void
  /** Undefined: nothing keeps it from its work any more. */
  reportBlocked: (blocked: string | undefined) => void
}

/** Resolves once `signal` aborted and everything is put away; rejects when the loop died. */
export type ThreadBody = (config: WorkerConfig, tools: ThreadTools, signal: AbortSignal) => Promise<void>
