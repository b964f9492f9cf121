/** Checks of the rule while it is edited: missing parts, the server's issues, and the preview. */
import { useMemo } from 'react'
import { ApiError } from '../../../client.ts'
import { textsOf } from '../../../texts/index.ts'
import { type IssuesByNode, type PlacedIssue, placeIssues } from '../../rules/place-issues.ts'
import type { Speaker } from '../../rules/sentence.ts'
import { type Tree, ruleOf } from '../../rules/tree.ts'
import { findMissing } from '../../rules/edit/editing.ts'
import { type Preview, usePreview } from './preview.tsx'

interface CheckInput {
  businessId: string
  tree: Tree
  speaker: Speaker
  saveError: Error | null
  /** True once the person has tried to save. From then on, missing parts are marked. */
  isTried: boolean
  /** Parts of the JSON text cannot be marked, so the server reports missing parts too. */
  isJson: boolean
}

export interface RuleChecks {
  rule: unknown
  isComplete: boolean
  issues: readonly { path: string; message: string }[]
  byNode: IssuesByNode
  preview: Preview
}

export function useRuleChecks({ businessId, tree, speaker, saveError, isTried, isJson }: CheckInput): RuleChecks {
  const { rule, ids } = useMemo(() => ruleOf(tree), [tree])
  const missing = useMemo(() => findMissing(tree.root, speaker.fieldTypes), [tree, speaker])
  const isComplete = missing.size === 0 || (isJson && (isTried || tree.root.nodes.length > 0))
  const preview = usePreview(businessId, isComplete ? rule : null)
  const issues = issuesOf(saveError) ?? issuesOf(preview.error) ?? []
  const placed = placeIssues(issues, ids)
  return { rule, isComplete, issues, byNode: isTried ? withMissing(placed, missing, tree) : placed, preview }
}

const issuesOf = (error: Error | null) =>
  error instanceof ApiError && error.issues.length > 0 ? error.issues : undefined

function withMissing(placed: IssuesByNode, missing: ReadonlyMap<string, string[]>, { root }: Tree): IssuesByNode {
  const texts = textsOf('segments')
  const all = new Map(placed)
  for (const [id, parts] of missing) {
    const whole = id === root.id ? texts.ruleNeeded : texts.emptyGroup
    const own = parts.map((part): PlacedIssue => ({ part, message: part === '' ? whole : texts.needed }))
    all.set(id, [...(all.get(id) ?? []), ...own])
  }
  return all
}
