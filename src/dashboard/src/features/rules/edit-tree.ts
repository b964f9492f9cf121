/** Changes of a tree. Each returns a new tree, or the same tree when the change is not possible. */
import { type NestedLists, insertAt, moveItem } from '../../parts/form/nested-list.ts'
import { type Group, type Leaf, type Node, type Tree, copyOf, isGroup, newGroup } from './tree.ts'

export interface Place {
  group: Group
  at: number
}

/** Returns the place of a node. The root has none. */
export function placeOf(tree: Tree, id: string): Place | undefined {
  return placeIn(tree.root, id)
}

function placeIn(group: Group, id: string): Place | undefined {
  const at = group.nodes.findIndex((node) => node.id === id)
  if (at >= 0) return { group, at }
  for (const node of group.nodes) {
    const found = isGroup(node) ? placeIn(node, id) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

const changeGroup = (tree: Tree, id: string, change: (group: Group) => Group): Tree => ({
  ...tree,
  root: changeWithin(tree.root, id, change),
})

function changeWithin(group: Group, id: string, change: (group: Group) => Group): Group {
  if (group.id === id) return change(group)
  return { ...group, nodes: group.nodes.map((node) => (isGroup(node) ? changeWithin(node, id, change) : node)) }
}

/** A group is one list, by its ID. */
const GROUPS: NestedLists<Tree, string, Node> = {
  itemsOf: (tree, groupId) => groupOf(tree.root, groupId)?.nodes ?? [],
  listsIn(tree, { list, at }) {
    const node = groupOf(tree.root, list)?.nodes[at]
    return node !== undefined && isGroup(node) ? [node.id] : []
  },
  around(tree, groupId) {
    const place = placeOf(tree, groupId)
    return place && { list: place.group.id, at: place.at }
  },
  withItems: (tree, groupId, nodes) => changeGroup(tree, groupId, (group) => ({ ...group, nodes })),
}

function groupOf(group: Group, id: string): Group | undefined {
  if (group.id === id) return group
  for (const node of group.nodes) {
    const found = isGroup(node) ? groupOf(node, id) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

export const insert = (tree: Tree, groupId: string, node: Node, at = Infinity): Tree =>
  insertAt(GROUPS, tree, { list: groupId, at }, node)

export function remove(tree: Tree, id: string): Tree {
  return replace(tree, id)
}

function replace(tree: Tree, id: string, ...by: Node[]): Tree {
  const place = placeOf(tree, id)
  if (place === undefined) return tree
  return changeGroup(tree, place.group.id, (group) => ({ ...group, nodes: group.nodes.toSpliced(place.at, 1, ...by) }))
}

export const setCondition = (tree: Tree, leaf: Leaf, condition: unknown): Tree =>
  replace(tree, leaf.id, { ...leaf, condition })

/** Also works for the root. */
export const setGroup = (tree: Tree, id: string, change: Pick<Group, 'kind' | 'nots'>): Tree =>
  changeGroup(tree, id, (group) => ({ ...group, ...change }))

/** Two `not` cancel each other out, so the result has one or none. */
export const negate = (tree: Tree, node: Node): Tree => replace(tree, node.id, { ...node, nots: node.nots % 2 ? 0 : 1 })

/** Puts the node into a new group, to which others can be added. */
export const wrap = (tree: Tree, node: Node, kind: Group['kind']): Tree =>
  replace(tree, node.id, newGroup([node], kind))

/** Replaces the group with its nodes. */
export const unwrap = (tree: Tree, group: Group): Tree => replace(tree, group.id, ...group.nodes)

/** Moves a node to the index `at` of its own group or another one. A group cannot be moved into itself. */
export function moveTo(tree: Tree, id: string, groupId: string, at: number): Tree {
  const from = placeOf(tree, id)
  const node = from?.group.nodes[from.at]
  if (from === undefined || node === undefined || holds(node, groupId)) return tree
  // Once the node is removed, the nodes after it move up by one.
  const isPassed = from.group.id === groupId && from.at < at
  return insert(remove(tree, id), groupId, node, isPassed ? at - 1 : at)
}

const holds = (node: Node, id: string): boolean =>
  node.id === id || (isGroup(node) && node.nodes.some((one) => holds(one, id)))

/** Moves a node by one step in reading order: past a condition, into a group, or out of its own group. */
export function move(tree: Tree, id: string, direction: 'up' | 'down'): Tree {
  const place = placeOf(tree, id)
  if (place === undefined) return tree
  return moveItem(GROUPS, tree, { list: place.group.id, at: place.at }, direction)?.value ?? tree
}

/** Returns the number of groups and `not` around the nodes of this group, including the group itself. */
export function levelsAbove(tree: Tree, groupId: string): number {
  const place = placeOf(tree, groupId)
  const group = place?.group.nodes[place.at] ?? tree.root
  return (place === undefined ? 0 : levelsAbove(tree, place.group.id)) + group.nots + 1
}

export const leavesOf = (node: Node): Leaf[] => (isGroup(node) ? node.nodes.flatMap(leavesOf) : [node])

/** Returns the number of levels from the node down to its deepest condition. */
export const levelsOf = (node: Node): number =>
  node.nots + 1 + (isGroup(node) ? Math.max(0, ...node.nodes.map(levelsOf)) : 0)

/** Inserts a copy after the node. */
export function duplicate(tree: Tree, node: Node): Tree {
  return replace(tree, node.id, node, copyOf(node))
}
