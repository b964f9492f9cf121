/** Puts what the server says of a rule at the nodes of its tree. */
import { withoutPath } from '../../../without-path.ts'
import type { NodeIds } from './tree.ts'

interface Issue {
  path: string
  message: string
}

export interface PlacedIssue {
  /** Within the node: `operator`, `value`, `where[0].property`, or nothing. */
  part: string
  message: string
}

export type IssuesByNode = ReadonlyMap<string, readonly PlacedIssue[]>

/** Issues of other fields than the rule are left out. */
export function placeIssues(issues: readonly Issue[], ids: NodeIds): IssuesByNode {
  const placed = issues.flatMap(({ path, message }) => {
    const found = nearest(path, ids)
    return found === undefined ? [] : [{ ...found, message: withoutPath({ path, message }) }]
  })
  return Map.groupBy(placed, ({ id }) => id)
}

/** The innermost node whose path the issue's path begins with. */
function nearest(path: string, ids: NodeIds): { id: string; part: string } | undefined {
  for (let end = path.length; end > 0; end = Math.max(path.lastIndexOf('.', end - 1), path.lastIndexOf('[', end - 1))) {
    const id = ids.get(path.slice(0, end))
    if (id !== undefined) return { id, part: path.slice(end).replace(/^\./, '') }
  }
  return undefined
}

/** Whether the issue is of this part or of something in it. */
export const isOf = (issue: PlacedIssue, part: string): boolean =>
  issue.part === part || issue.part.startsWith(`${part}.`) || issue.part.startsWith(`${part}[`)
