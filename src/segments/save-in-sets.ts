/** Number of sets that are saved at the same time: while one is decided, Postgres writes another. */
export const SETS_AT_ONCE = 2
/** Up to this many contacts make one set. */
const MAX_UNDIVIDED = 500

/**
 * Divides contacts into sets, and saves the sets at the same time. Waits for all of them, so that none continues
 * unnoticed after another has failed.
 * @returns the result of each set
 */
export async function saveInSets<Contact, Saved>(
  contacts: Contact[],
  save: (set: Contact[]) => Promise<Saved>,
): Promise<Saved[]> {
  const outcomes = await Promise.allSettled(setsOf(contacts).map(save))
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

function setsOf<Contact>(contacts: Contact[]): Contact[][] {
  if (contacts.length <= MAX_UNDIVIDED) return [contacts]
  const size = Math.ceil(contacts.length / SETS_AT_ONCE)
  return Array.from({ length: SETS_AT_ONCE }, (_, n) => contacts.slice(n * size, (n + 1) * size))
}
