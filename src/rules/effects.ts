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

/** @param isOurs whether the contact is the one that the call landed on */
export function collectEffects(noted: NotedEffect[], isOurs: (contactId: string) => boolean): Effects {
  const effects: Effects = { entered: [], left: [], enrolled: [], ended: [] }
  for (const { contactId, ...effect } of noted) {
    if (!isOurs(contactId)) continue
    if (effect.kind === 'ended') effects.ended.push({ campaignId: effect.campaignId, state: effect.state })
    else if (effect.kind === 'enrolled') effects.enrolled.push({ campaignId: effect.campaignId, state: effect.state })
    else effects[effect.kind].push(effect.segmentId)
  }
  return effects
}
