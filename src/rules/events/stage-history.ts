/**
 * When a contact first reached each stage. It is derived from the event statistics, so it is also right after a merge
 * or a backfill.
 */
import { STAGES, type StageName, stageOf } from './journey-stage.ts'

export interface StageEntry {
  stage: StageName
  /** The event that moved the contact; null for the first stage, where each contact starts. */
  event: string | null
  /** Time of the event, in epoch ms. */
  at: number
}

interface Happened {
  event: string
  firstAt: number
}

/** Returns the stages, oldest first. A stage that the contact skipped is not listed. */
export function stageHistory(createdAt: number, events: readonly Happened[]): StageEntry[] {
  const moves = events
    .flatMap(({ event, firstAt }) => ({ event, at: firstAt, stage: stageOf(event) ?? 0 }))
    .filter(({ stage }) => stage > 0)
    // If two events have the same time, the later stage counts.
    .toSorted((one, other) => one.at - other.at || other.stage - one.stage)
  const began = Math.min(createdAt, ...events.map(({ firstAt }) => firstAt))
  let reached = 0
  const entries: StageEntry[] = []
  if (!moves.some(({ at }) => at <= began)) entries.push({ stage: STAGES[0], event: null, at: began })
  for (const { event, at, stage } of moves) {
    if (stage <= reached) continue
    reached = stage
    entries.push({ stage: STAGES[stage], event, at })
  }
  return entries
}
