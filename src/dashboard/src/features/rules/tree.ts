/**
 * A rule while a person edits it: a tree whose nodes keep their IDs when they move. Every JSON value can be a tree, and
 * an unedited tree yields the rule that it was made from.
 */

import type { components } from '../../api.d.ts'

export type Node = Group | Leaf

export interface Group {
  id: string
  kind: 'all' | 'any'
  /** Number of `not` around the group. */
  nots: number
  nodes: Node[]
}

export interface Leaf {
  id: string
  nots: number
  /** The condition as JSON. It may be incomplete while it is edited, and pasted JSON may not be a condition at all. */
  condition: unknown
}

export interface Tree {
  root: Group
  /** The rule is a single condition without a group. It stays so while the root has one node. */
  isBare: boolean
}

export const isGroup = (node: Node): node is Group => 'nodes' in node

// A random prefix, because drafts outlive the page that numbered their nodes.
const prefix = Math.random().toString(36).slice(2)
let last = 0
const newId = (): string => `${prefix}-${(last += 1)}`

export const newGroup = (nodes: Node[] = [], kind: Group['kind'] = 'all'): Group => ({
  id: newId(),
  kind,
  nots: 0,
  nodes,
})

export const newLeaf = (condition: unknown): Leaf => ({ id: newId(), nots: 0, condition })

/** Returns a copy with its own IDs. */
export const copyOf = (node: Node): Node =>
  isGroup(node) ? { ...node, id: newId(), nodes: node.nodes.map(copyOf) } : { ...node, id: newId() }

export const emptyTree = (): Tree => ({ root: newGroup(), isBare: false })

export function treeOf(rule: unknown): Tree {
  const node = nodeOf(rule)
  return isGroup(node) ? { root: node, isBare: false } : { root: newGroup([node]), isBare: true }
}

function nodeOf(rule: unknown): Node {
  let nots = 0
  let inner = rule
  for (let only = onlyEntry(inner); only?.[0] === 'not'; only = onlyEntry(inner)) {
    nots += 1
    inner = only[1]
  }
  const [kind, nodes] = onlyEntry(inner) ?? []
  if ((kind === 'all' || kind === 'any') && Array.isArray(nodes)) {
    return { ...newGroup(nodes.map(nodeOf), kind), nots }
  }
  return { ...newLeaf(inner), nots }
}

function onlyEntry(value: unknown): [string, unknown] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const [entry, ...others] = Object.entries(value)
  return others.length === 0 ? entry : undefined
}

/** A rule in a request. The server refuses conditions that are incomplete, and pasted JSON that is not a condition. */
export type RuleBody = components['schemas']['SentRule']

/** IDs of the nodes by their paths in the rule, such as `rule.all[1]`. */
export type NodeIds = ReadonlyMap<string, string>

export function ruleOf({ root, isBare }: Tree): { rule: RuleBody; ids: NodeIds } {
  const ids = new Map([['rule', root.id]])
  const only = isBare && root.nots === 0 && root.nodes.length === 1 ? root.nodes[0] : undefined
  return { rule: write(only ?? root, 'rule', ids), ids }
}

function write(node: Node, path: string, ids: Map<string, string>): RuleBody {
  ids.set(path, node.id)
  const inner = path + '.not'.repeat(node.nots)
  ids.set(inner, node.id)
  let rule = isGroup(node) ? writeGroup(node, inner, ids) : (node.condition as RuleBody)
  for (let left = node.nots; left > 0; left -= 1) rule = { not: rule }
  return rule
}

function writeGroup({ kind, nodes }: Group, path: string, ids: Map<string, string>): RuleBody {
  const rules = nodes.map((one, at) => write(one, `${path}.${kind}[${at}]`, ids))
  return kind === 'all' ? { all: rules } : { any: rules }
}
