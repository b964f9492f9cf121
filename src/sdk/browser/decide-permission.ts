/** `pending`: nothing is kept or sent yet, and what is called waits in memory. */
export type Permission = 'granted' | 'pending' | 'refused'

/** Global Privacy Control and an opt-out hold, whatever the page says. */
export function decidePermission(
  wantsPrivacy: boolean,
  choice: string | null | undefined,
  consentRequired: boolean,
): Permission {
  if (wantsPrivacy || choice === 'out' || choice === 'no') return 'refused'
  return choice === 'yes' || !consentRequired ? 'granted' : 'pending'
}
