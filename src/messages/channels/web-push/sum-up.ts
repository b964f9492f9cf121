import type { SendOutcome } from '../provider.ts'

/** What became of a message, from what became of it at each endpoint; there is at least one. One that took it is enough. */
export function sumUp(outcomes: readonly SendOutcome[]): SendOutcome {
  const of = (wanted: SendOutcome['kind']) => outcomes.filter(({ kind }) => kind === wanted)
  const taken = of('accepted').length
  if (taken > 0) return { kind: 'accepted', reason: `${taken} of ${outcomes.length} browsers` }
  // What may have arrived is not sent again; what may pass is tried again. Of refusals, those that the sender is to blame for count.
  const refused = of('refused').toSorted((a, b) => Number(isOfBrowser(a)) - Number(isOfBrowser(b)))
  const [decisive] = [...of('unknown'), ...of('temporary'), ...refused]
  return decisive as SendOutcome
}

const isOfBrowser = ({ blame }: SendOutcome): boolean => blame === 'recipient'
