/** What all parts of the builder share. */
import { createContext, useContext } from 'react'
import { type FieldTypes, typeOf } from '../segments/rule/condition.ts'
import type { Draft } from '../segments/rule/condition.ts'
import { leavesOf, placeOf } from '../segments/rule/edit-tree.ts'
import type { IssuesByNode, PlacedIssue } from '../segments/rule/place-issues.ts'
import { isOf } from '../segments/rule/place-issues.ts'
import type { Speaker } from '../segments/rule/sentence.ts'
import type { Group, Node, Tree } from '../segments/rule/tree.ts'
import { isGroup } from '../segments/rule/tree.ts'
import { missingParts } from '../segments/rule/value.ts'

export interface Editing {
  businessId: string
  tree: Tree
  speaker: Speaker
  /** From the server, and of what is missing once the person has tried to save. */
  issues: IssuesByNode
  /** A condition that the server warns of, as it was when it was read. */
  warnings: IssuesByNode
  /** `focus` is a `data-focus` that gets the focus when the change is shown. */
  change: (tree: Tree, focus?: string) => void
  /** Read aloud. */
  announce: (text: string) => void
}

export const EditingContext = createContext<Editing | null>(null)

export function useEditing(): Editing {
  const editing = useContext(EditingContext)
  if (editing === null) throw new Error('The builder is not around this.')
  return editing
}

/** The first issue of a part of a node, for its field. */
export const issueOf = (issues: readonly PlacedIssue[] | undefined, part: string): string | undefined =>
  issues?.find((issue) => isOf(issue, part))?.message

/** Where the focus goes when the node is gone. */
export function focusWithout(tree: Tree, node: Node): string {
  const place = placeOf(tree, node.id)
  if (place === undefined) return ''
  const next = place.group.nodes[place.at + 1] ?? place.group.nodes[place.at - 1]
  return next === undefined ? `${place.group.id}:add` : `${next.id}:handle`
}

/** What the person still has to fill in, by node. Empty groups lack everything. */
export function findMissing(root: Group, fieldTypes: FieldTypes): Map<string, string[]> {
  const leaves = leavesOf(root).map(({ id, condition }) => {
    const draft = (typeof condition === 'object' && condition !== null ? condition : {}) as Draft
    return [id, missingParts(draft, typeOf(draft, fieldTypes))] as const
  })
  const groups = emptyGroups(root).map(({ id }) => [id, ['']] as const)
  return new Map([...leaves, ...groups].filter(([, parts]) => parts.length > 0) as [string, string[]][])
}

const emptyGroups = (group: Group): Group[] =>
  group.nodes.length === 0 ? [group] : group.nodes.filter(isGroup).flatMap(emptyGroups)
