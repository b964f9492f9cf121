import { useEffect, useMemo, useState } from 'react'
import type { Segment } from '../queries.ts'
import { ruleOf } from '../../rules/tree.ts'
import { type Draft, draftOf, dropDraft, keepDraft, readDraft } from './draft.ts'

export interface DraftState {
  draft: Draft
  /** True when the draft differs from what is stored. */
  isChanged: boolean
  /** True when the draft is from before a reload. */
  isRestored: boolean
  /** True when the segment's rule has changed since the draft was begun. */
  isConflict: boolean
  change: (change: Partial<Draft>) => void
  discard: () => void
}

/** The input, which survives a reload of the page. `segment` is undefined for a new segment. */
export function useDraft(businessId: string, segment: Segment | undefined): DraftState {
  const segmentId = segment?.segmentId
  const stored = useMemo(() => draftOf(segment), [segment])
  const [kept] = useState(() => readDraft(businessId, segmentId))
  const [isRestored, setRestored] = useState(kept !== undefined)
  const [draft, setDraft] = useState(kept ?? stored)
  const isChanged = textOf(draft) !== textOf(stored)
  useEffect(() => {
    if (isChanged) keepDraft(businessId, segmentId, draft)
    else dropDraft(businessId, segmentId)
  }, [businessId, segmentId, draft, isChanged])
  return {
    draft,
    isChanged,
    isRestored: isRestored && isChanged,
    isConflict: isChanged && draft.version !== stored.version,
    change: (change) => setDraft((before) => ({ ...before, ...change })),
    discard: () => {
      setRestored(false)
      setDraft(stored)
    },
  }
}

const textOf = ({ name, description, tree }: Draft): string => JSON.stringify([name, description, ruleOf(tree).rule])
