/** What a person has typed and not saved, kept in this tab of the browser: a reload does not lose it. */
import { type Tree, emptyTree, treeOf } from '../segments/rule/tree.ts'
import type { Segment } from '../segments/queries.ts'

export interface Draft {
  name: string
  description: string
  tree: Tree
  /** Of the segment that was edited; 0 for a new one. */
  version: number
}

export const draftOf = (segment: Segment | undefined): Draft =>
  segment === undefined
    ? { name: '', description: '', tree: emptyTree(), version: 0 }
    : {
        name: segment.name,
        description: segment.description ?? '',
        tree: treeOf(segment.rule),
        version: segment.version,
      }

const keyOf = (businessId: string, segmentId: string | undefined) =>
  `sluice.segment.${businessId}.${segmentId ?? 'new'}`

export function readDraft(businessId: string, segmentId: string | undefined): Draft | undefined {
  const kept = sessionStorage.getItem(keyOf(businessId, segmentId))
  return kept === null ? undefined : (JSON.parse(kept) as Draft)
}

export function keepDraft(businessId: string, segmentId: string | undefined, draft: Draft): void {
  try {
    sessionStorage.setItem(keyOf(businessId, segmentId), JSON.stringify(draft))
  } catch {
    // The browser has no room, or stores nothing. The page works without.
  }
}

export const dropDraft = (businessId: string, segmentId: string | undefined): void =>
  sessionStorage.removeItem(keyOf(businessId, segmentId))
