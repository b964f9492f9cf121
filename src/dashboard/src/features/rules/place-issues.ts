/** Assigns the server's issues with a rule to the nodes of its tree. */
import { sayAtField } from '../../without-path.ts'
import type { NodeIds } from './tree.ts'

interface Issue {
  path: string
  message: string
}

export interface PlacedIssue {
  /** Part of the node: `operator`, `value`, `where[0].property`, or nothing. */
  part: string
  message: string
}

export type IssuesByNode = ReadonlyMap<string, readonly PlacedIssue[]>

/** Omits issues of fields other than the rule. */
export function placeIssues(issues: readonly Issue[], ids: NodeIds): IssuesByNode {
  const placed = issues.flatMap(({ path, message }) => {
    const found = nearest(path, ids)
    return found === undefined ? [] : [{ ...found, message: sayAtField({ path, message }) }]
  })
  return Map.groupBy(placed, ({ id }) => id)
}

/** Returns the innermost node whose path is a prefix of the issue's path. */
function nearest(path: string, ids: NodeIds): { id: string; part: string } | undefined {
  for (let end = path.length; end > 0; end = Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1))) {
    const id = ids.get(path.slice(0, end))
    if (id !== undefined) return { id, part: path.slice(end).replace(/^\./, '') }
  }
  return undefined
}

/** Whether the issue belongs to this part or to something inside it. */
export const isOf = (issue: PlacedIssue, part: string): boolean =>
  issue.part === part || issue.part.startsWith(`${part}.`) || issue.part.startsWith(`${part}[`)
