import { hundredths } from './read-words.ts'
import { shareOf } from './stable-hash.ts'

/**
 * Returns whether a contact goes through the steps of a campaign without being sent anything. A contact that is held
 * out at 5 % is held out at 10 %, too.
 */
export function isHeldOut({
  contactId,
  campaignId,
  holdOut,
}: {
  contactId: string
  campaignId: string
  /** Per cent. */
  holdOut: number
}): boolean {
  return shareOf('hold-out', contactId, campaignId) < hundredths(holdOut)
}
