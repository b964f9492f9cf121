/** Unsaved input, kept in this browser tab so that it survives a reload. */
import { type Tree, emptyTree, treeOf } from '../../rules/tree.ts'
import type { Segment } from '../queries.ts'

export interface Draft {
  name: string
  description: string
  tree: Tree
  /** Version of the edited segment; 0 for a new one. */
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
    // The browser has no space, or storage is disabled. The page works without it.
  }
}

export const dropDraft = (businessId: string, segmentId: string | undefined): void =>
  sessionStorage.removeItem(keyOf(businessId, segmentId))
