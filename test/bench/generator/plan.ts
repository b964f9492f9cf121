/** What the generator is asked to do, and what it reports. */
import type { Traffic } from './traffic.ts'

export interface LoadPlan {
  url: string
  /** Secret keys, taken in turn; each business's requests are numbered by themselves. */
  keys: string[]
  traffic: Traffic
  /** The number of the first request. */
  first: number
  /** Open: `rate` requests a second, whatever the answers; closed: each connection sends when it has its answer. */
  pace: { kind: 'open'; rate: number } | { kind: 'closed' }
  connections: number
  /** It stops sending after this time, or after `requests`. */
  seconds: number
  requests?: number
  /** Open loop: what could not be sent by the end, for want of a free connection, is dropped and not made up for. */
  dropLate?: boolean
  /** Keeps the time and the latency of every request. */
  trace?: boolean
}

/** In ms. */
export interface Latency {
  count: number
  mean: number
  p50: number
  p95: number
  p99: number
  p999: number
  max: number
}

export type Traced = [n: number, dueAt: number, latency: number, status: number]

export interface LoadResult {
  /** Epoch ms. */
  startedAt: number
  sent: number
  /** Answers by HTTP status; `broken`: the connection ended before the answer; `unanswered`: none came in half a minute. */
  answers: Record<string, number>
  /** How long it sent. */
  seconds: number
  /** Answered 200 while it sent. */
  inTime: number
  /** The same by second. */
  bySecond: number[]
  /** Of the 200s. Open loop: from the instant at which the request was due, whenever it was sent. */
  latency: Latency
  /** Of all other answers. */
  refusals: Latency
  /** How long after it was due a request was sent: the generator's own delay, or that no connection was free. */
  lateness: Latency
  /** Of the generator itself. */
  cpuUs: number
  /** By request: its number, epoch ms when it was due, ms until the answer, status. */
  trace: Traced[]
}
