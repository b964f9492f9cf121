/** What is asked of the render thread, and what it answers. */
import type { Fault } from '../../rules/faults.ts'

export interface Part {
  name: string
  source: string
  /** Values are escaped. */
  isHtml: boolean
}

export type Job =
  /** `key` names the parts: they are sent once. */
  | { kind: 'render'; key: string; parts?: Part[]; values: object; now: number; textFrom: string | null }
  | { kind: 'check'; parts: Part[] }
  | { kind: 'mjml'; source: string }

export interface PartFault {
  part: string
  fault: Fault
}

export type JobResult =
  /** `text`: made from the HTML of the part `textFrom`. */
  | { kind: 'rendered'; parts: Record<string, string>; text: string | null }
  | { kind: 'checked'; faults: PartFault[] }
  | { kind: 'compiled'; html: string }
  | { kind: 'failed'; reason: string }
  /** It took too long, or the thread is gone. */
  | { kind: 'ended'; reason: string }

/** How many templates the thread keeps parsed. Both sides forget the oldest one by the same rule. */
export const MAX_PARSED = 200

/** The key to forget; undefined while there is room. */
export function oldestBeyondLimit(kept: { readonly size: number; keys(): Iterable<string> }): string | undefined {
  if (kept.size <= MAX_PARSED) return undefined
  const [oldest] = kept.keys()
  return oldest
}
