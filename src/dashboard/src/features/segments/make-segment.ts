import { hasDraft, writeDraft } from '../../parts/draft/stored-drafts.ts'
import { treeOf } from '../rules/tree.ts'
import { type Draft, draftPlace, stampOfDraft } from './edit/draft.ts'

/** True when a new segment has been begun and not saved. */
export const isNewSegmentBegun = (businessId: string): boolean => hasDraft(draftPlace(businessId, undefined))

/** The editor of a new segment opens with it. What was begun there is lost. */
export function beginSegment(businessId: string, name: string, rule: unknown): void {
  const draft: Draft = { name, description: '', tree: treeOf(rule), version: 0 }
  writeDraft(draftPlace(businessId, undefined), { draft, stamp: stampOfDraft(draft) })
}
