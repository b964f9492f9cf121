/** Requests to the render thread, and its answers. */
import type { Fault } from '../../rules/faults.ts'
import type { Registers } from './registers.ts'

export interface Part {
  name: string
  source: string
  /** Values are escaped. */
  isHtml: boolean
}

export type Job =
  /** `key` identifies the parts, which are sent once. */
  | { kind: 'render'; key: string; parts?: Part[]; values: object; registers: Registers; textFrom: string | null }
  | { kind: 'check'; parts: Part[] }
  | { kind: 'mjml'; source: string; language: string }

export interface PartFault {
  part: string
  fault: Fault
}

export type JobResult =
  /** `text`: made from the HTML of the part `textFrom`. */
  | { kind: 'rendered'; parts: Record<string, string>; text: string | null }
  /** `dataNames`: see `dataNamesIn`. */
  | { kind: 'checked'; faults: PartFault[]; dataNames: string[] | null }
  | { kind: 'compiled'; html: string }
  | { kind: 'refused'; fault: Fault }
  | { kind: 'failed'; reason: string }
  /** The job took too long, or the thread has ended. */
  | { kind: 'ended'; reason: string }

export interface TimedResult {
  result: JobResult
  /** How long it took. */
  ms: number
}

/**
 * Milliseconds after which the thread leaves the other jobs that were sent with this one, so that a business with slow
 * templates does not delay others.
 */
export const BATCH_MS = 10

/** Number of parsed templates that the thread keeps. Both sides drop the oldest one by the same rule. */
export const MAX_PARSED = 200

/** Returns the key to drop; undefined while there is room. */
export function oldestBeyondLimit(kept: { readonly size: number; keys(): Iterable<string> }): string | undefined {
  if (kept.size <= MAX_PARSED) return undefined
  const [oldest] = kept.keys()
  return oldest
}
