/** What one item did to its contact, for callers who ask for it (segments, `Prefer: effects`). */
import type { EnrolmentEnd, EnrolmentState } from './state.ts'

export interface Effects {
  /** Ids of segments. */
  entered: string[]
  left: string[]
  enrolled: { campaignId: string; state: EnrolmentState['state'] }[]
  ended: { campaignId: string; state: EnrolmentEnd }[]
}

/** One effect, as rules note it. */
export type NotedEffect = { contactId: string } & (
  | { kind: 'entered' | 'left'; segmentId: string }
  | { kind: 'enrolled'; campaignId: string; state: EnrolmentState['state'] }
  | { kind: 'ended'; campaignId: string; state: EnrolmentEnd }
)

/**
 * What the call did to the contact that it landed on. Of contacts that it merged into that one, enrolments are its own since then; a
 * segment that such a contact left says nothing about it. What was undone is left out.
 * @param survivorOf the contact that has an id now
 */
export function collectEffects(noted: NotedEffect[], ours: string, survivorOf: (contactId: string) => string): Effects {
  const effects: Effects = { entered: [], left: [], enrolled: [], ended: [] }
  const moved = new Map<string, 'entered' | 'left'>()
  for (const { contactId, ...effect } of noted) {
    if (survivorOf(contactId) !== ours) continue
    if (effect.kind === 'ended') effects.ended.push({ campaignId: effect.campaignId, state: effect.state })
    else if (effect.kind === 'enrolled') effects.enrolled.push({ campaignId: effect.campaignId, state: effect.state })
    else if (contactId === ours) {
      const before = moved.get(effect.segmentId)
      if (before === undefined || before === effect.kind) moved.set(effect.segmentId, effect.kind)
      else moved.delete(effect.segmentId)
    }
  }
  for (const [segmentId, kind] of moved) effects[kind].push(segmentId)
  return effects
}
