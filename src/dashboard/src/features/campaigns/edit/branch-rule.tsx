/** The rule of a branch, in the rule builder of segments. */
import { useMemo, useRef, useState } from 'react'
import { type Editing, EditingContext } from '../../rules/edit/editing.ts'
import { RootGroup } from '../../rules/edit/group-view.tsx'
import { useFocus } from '../../../parts/action/use-focus.ts'
import { placeIssues } from '../../rules/place-issues.ts'
import { type Tree, ruleOf, treeOf } from '../../rules/tree.ts'
import { useSpeaker } from '../../rules/use-speaker.ts'
import styles from './campaign-editor.module.css'
import { getAt, setAt } from './definition.ts'
import { useCampaignEditing } from './editing.ts'

const NO_WARNINGS = new Map<string, never>()

/** `path` is the path of the step. */
export function BranchRule({ path, label }: { path: string; label: string }) {
  const { businessId, value, issues, change, announce } = useCampaignEditing()
  const speaker = useSpeaker(businessId)
  const frame = useRef<HTMLFieldSetElement>(null)
  const focus = useFocus(frame)
  const rule = getAt(value, `${path}.rule`)
  const [kept, keep] = useState<Tree>(() => treeOf(rule))
  // The rule here has changed: the step was moved, or its JSON was edited.
  const tree = useMemo(
    () => (JSON.stringify(ruleOf(kept).rule) === JSON.stringify(rule) ? kept : treeOf(rule)),
    [kept, rule],
  )
  const editing: Editing = {
    businessId,
    tree,
    speaker,
    issues: placeIssues(
      issues
        .filter((issue) => issue.path.startsWith(`${path}.rule`))
        .map((issue) => ({ path: issue.path.slice(path.length + 1), message: issue.message.replace(`${path}.`, '') })),
      ruleOf(tree).ids,
    ),
    warnings: NO_WARNINGS,
    change(next, wanted) {
      keep(next)
      change(setAt(value, `${path}.rule`, ruleOf(next).rule))
      if (wanted !== undefined) focus(`[data-focus="${wanted}"]`)
    },
    announce,
  }
  return (
    <fieldset ref={frame} aria-label={label} className={`${styles['rule']} ${styles['wide']}`}>
      <EditingContext value={editing}>
        <RootGroup />
      </EditingContext>
    </fieldset>
  )
}
