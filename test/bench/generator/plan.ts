/** The input and the result of the generator. */
import type { Traffic } from './traffic.ts'

export interface LoadPlan {
  url: string
  /** Secret keys, used in rotation. The requests of each business are numbered separately. */
  keys: string[]
  traffic: Traffic
  /** Number of the first request. */
  first: number
  /**
   * Open: `rate` requests per second, regardless of responses. Closed: each connection sends when it has its response.
   */
  pace: { kind: 'open'; rate: number } | { kind: 'closed' }
  connections: number
  /** Stops sending after this number of seconds, or after `requests`. */
  seconds: number
  requests?: number
  /**
   * Open loop: whether requests that could not be sent by the end, because no connection was free, are dropped instead
   * of sent late.
   */
  dropLate?: boolean
  /** Whether to keep the time and the latency of every request. */
  trace?: boolean
}

/** Milliseconds, except `count`. */
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
  /** Epoch milliseconds. */
  startedAt: number
  sent: number
  /** Responses by HTTP status. `broken`: the connection ended first; `unanswered`: no response within half a minute. */
  answers: Record<string, number>
  /** Duration of sending. */
  seconds: number
  /** Number of 200 responses while it was sending. */
  inTime: number
  /** The same number per second. */
  bySecond: number[]
  /** Latency of 200 responses. In an open loop it begins when the request was due, even if it was sent later. */
  latency: Latency
  /** Latency of all other responses. */
  refusals: Latency
  /** Delay between the due time and the sending, because the generator was late or no connection was free. */
  lateness: Latency
  /** CPU time of the generator itself. */
  cpuUs: number
  /** One entry per request: its number, its due time in epoch milliseconds, milliseconds until the response, status. */
  trace: Traced[]
}
