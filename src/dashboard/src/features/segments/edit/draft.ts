/** The draft of a segment, kept in this browser tab so that it survives a reload. */
import type { DraftPlace } from '../../../parts/draft/stored-drafts.ts'
import { type Tree, emptyTree, ruleOf, treeOf } from '../../rules/tree.ts'
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

export const draftPlace = (businessId: string, segmentId: string | undefined): DraftPlace => ({
  storage: 'session',
  key: `sluice.segment.${businessId}.${segmentId ?? 'new'}`,
})

export const textOfDraft = ({ name, description, tree }: Draft): string =>
  JSON.stringify([name, description, ruleOf(tree).rule])

/** It changes with the segment's rule, and not with its name. */
export const stampOfDraft = ({ version }: Draft): string => String(version)
