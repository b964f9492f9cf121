/** The effects of one item on its contact, for callers who request them (segments, `Prefer: effects`). */
import type { EnrolmentEnd, EnrolmentState } from './state.ts'

export interface Effects {
  /** Ids of segments. */
  entered: string[]
  left: string[]
  enrolled: { campaignId: string; key: string | null; state: EnrolmentState['state'] }[]
  ended: { campaignId: string; key: string | null; state: EnrolmentEnd }[]
}

/** One effect, as the rules record it. */
export type NotedEffect = { contactId: string } & (
  | { kind: 'entered' | 'left'; segmentId: string }
  | { kind: 'enrolled'; campaignId: string; key: string | null; state: EnrolmentState['state'] }
  | { kind: 'ended'; campaignId: string; key: string | null; state: EnrolmentEnd }
)

/**
 * Collects the effects of a call on its contact. Enrolments of contacts that the call merged into this one count as its
 * own. Segments that such contacts left do not. Effects that were undone are left out.
 * @param survivorOf returns the contact that an id belongs to now
 */
export function collectEffects(noted: NotedEffect[], ours: string, survivorOf: (contactId: string) => string): Effects {
  const effects: Effects = { entered: [], left: [], enrolled: [], ended: [] }
  const moved = new Map<string, 'entered' | 'left'>()
  for (const { contactId, ...effect } of noted) {
    if (survivorOf(contactId) !== ours) continue
    if (effect.kind === 'ended') {
      const { campaignId, key, state } = effect
      effects.ended.push({ campaignId, key, state })
    } else if (effect.kind === 'enrolled') {
      const { campaignId, key, state } = effect
      effects.enrolled.push({ campaignId, key, state })
    } else if (contactId === ours) {
      const before = moved.get(effect.segmentId)
      if (before === undefined || before === effect.kind) moved.set(effect.segmentId, effect.kind)
      else moved.delete(effect.segmentId)
    }
  }
  for (const [segmentId, kind] of moved) effects[kind].push(segmentId)
  return effects
}
