/** Items of a request that are refused while the others are accepted. */
import type { Issue } from '../../errors.ts'
import { faultOf } from '../../rules/faults.ts'
import type { RequestContext } from '../app-context.ts'
import { summarise } from './check-body.ts'
import { isForPage } from './is-for-page.ts'

/** Why an item is refused: as text, and as issues with codes. */
export interface Refusal {
  error: string
  issues: readonly Issue[]
}

/** `index`: its place in the request. */
export interface RefusedItem extends Refusal {
  index: number
}

export function refuse(sent: readonly Issue[]): Refusal {
  const issues = sent.map((issue) => (issue.path === '' && issue.code === 'object' ? NO_OBJECT : issue))
  return { error: summarise(issues), issues }
}

/** The usual message is about the body. */
const NO_OBJECT: Issue = { ...faultOf('', 'object'), message: 'the item must be an object' }

/** Returns the list for the answer. Only pages get the issues, which they show in their own language. */
export const listRefused = (context: RequestContext, refused: readonly RefusedItem[]) =>
  refused
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, error, issues }) => ({ index, error, ...(isForPage(context) && { issues: [...issues] }) }))
