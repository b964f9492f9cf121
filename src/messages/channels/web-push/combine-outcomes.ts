import type { SendOutcome } from '../provider.ts'

/**
 * Combines the outcomes at all endpoints of a message, of which there is at least one. One endpoint that accepted it is
 * enough.
 */
export function combineOutcomes(outcomes: readonly SendOutcome[]): SendOutcome {
  const of = (wanted: SendOutcome['kind']) => outcomes.filter(({ kind }) => kind === wanted)
  const taken = of('accepted').length
  if (taken > 0) return { kind: 'accepted', reason: `${taken} of ${outcomes.length} browsers` }
  // A message that may have arrived is not sent again; a temporary failure is tried again. Of refusals, those caused by
  // the sender take precedence.
  const refused = of('refused').toSorted((a, b) => Number(isOfBrowser(a)) - Number(isOfBrowser(b)))
  const [decisive] = [...of('unknown'), ...of('temporary'), ...refused]
  return decisive as SendOutcome
}

const isOfBrowser = ({ blame }: SendOutcome): boolean => blame === 'recipient'
