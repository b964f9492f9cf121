/** Items of a request that fail alone, while the others are taken. */
import type { Issue } from '../../errors.ts'
import { faultOf } from '../../rules/faults.ts'
import type { RequestContext } from '../app-context.ts'
import { summarise } from './check-body.ts'
import { isForPage } from './is-for-page.ts'

/** Why an item is refused: in words, and as issues where these have codes. */
export interface Refusal {
  error: string
  issues: readonly Issue[]
}

/** `index`: its place in what was sent. */
export interface RefusedItem extends Refusal {
  index: number
}

export function refuse(sent: readonly Issue[]): Refusal {
  const issues = sent.map((issue) => (issue.path === '' && issue.code === 'object' ? NO_OBJECT : issue))
  return { error: summarise(issues), issues }
}

/** A check speaks of the body. */
const NO_OBJECT: Issue = { ...faultOf('', 'object'), message: 'the item must be an object' }

/** As the answer lists them. The issues are for a page, which says them in its language. */
export const listRefused = (context: RequestContext, refused: readonly RefusedItem[]) =>
  refused
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, error, issues }) => ({ index, error, ...(isForPage(context) && { issues: [...issues] }) }))
