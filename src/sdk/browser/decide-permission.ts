/** `pending`: nothing is stored or sent yet, and calls wait in memory. */
export type Permission = 'granted' | 'pending' | 'refused'

/** Global Privacy Control and an opt-out take precedence over the page. */
export function decidePermission(
  wantsPrivacy: boolean,
  choice: string | null | undefined,
  consentRequired: boolean,
): Permission {
  if (wantsPrivacy || choice === 'out' || choice === 'no') return 'refused'
  return choice === 'yes' || !consentRequired ? 'granted' : 'pending'
}
