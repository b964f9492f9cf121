/** The four ways in which the nodes of a group can be joined. */
import type { Group } from './tree.ts'

export const JOINS = {
  all: { kind: 'all', nots: 0 },
  any: { kind: 'any', nots: 0 },
  none: { kind: 'any', nots: 1 },
  notAll: { kind: 'all', nots: 1 },
} as const
export type Join = keyof typeof JOINS

export function joinOf({ kind, nots }: Pick<Group, 'kind' | 'nots'>): Join {
  const isNegated = nots % 2 === 1
  if (kind === 'all') return isNegated ? 'notAll' : 'all'
  return isNegated ? 'none' : 'any'
}
