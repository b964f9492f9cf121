/** Shared state of all parts of the builder. */
import { createContext, useContext } from 'react'
import { type FieldTypes, typeOf } from '../condition.ts'
import type { Draft } from '../condition.ts'
import { leavesOf, placeOf } from '../edit-tree.ts'
import type { IssuesByNode, PlacedIssue } from '../place-issues.ts'
import { isOf } from '../place-issues.ts'
import type { Speaker } from '../sentence.ts'
import type { Group, Node, Tree } from '../tree.ts'
import { isGroup } from '../tree.ts'
import { missingParts } from '../value.ts'

export interface Editing {
  businessId: string
  tree: Tree
  speaker: Speaker
  /** The server's issues and, once the person has tried to save, missing parts. */
  issues: IssuesByNode
  /** The server's warnings about conditions. None once the draft has changed. */
  warnings: IssuesByNode
  /** `focus` is the `data-focus` of the element that gets the focus once the change is shown. */
  change: (tree: Tree, focus?: string) => void
  /** Announces a text to screen readers. */
  announce: (text: string) => void
}

export const EditingContext = createContext<Editing | null>(null)

export function useEditing(): Editing {
  const editing = useContext(EditingContext)
  if (editing === null) throw new Error('The builder is not around this.')
  return editing
}

/** Returns the first issue of a part of a node, for its field. */
export const issueOf = (issues: readonly PlacedIssue[] | undefined, part: string): string | undefined =>
  issues?.find((issue) => isOf(issue, part))?.message

/** Returns what gets the focus when the node is removed. */
export function focusWithout(tree: Tree, node: Node): string {
  const place = placeOf(tree, node.id)
  if (place === undefined) return ''
  const next = place.group.nodes[place.at + 1] ?? place.group.nodes[place.at - 1]
  return next === undefined ? `${place.group.id}:add` : `${next.id}:handle`
}

/** Returns the parts that the person still has to fill in, by node. An empty group is itself incomplete. */
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
