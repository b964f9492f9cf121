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
  return await waitForAll(setsOf(contacts).map(save))
}

async function waitForAll<Saved>(saving: Promise<Saved>[]): Promise<Saved[]> {
  const outcomes = await Promise.allSettled(saving)
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}

/** How long a set should take, in milliseconds: calls that change its contacts wait while it is saved. */
const SET_MS = 50
/**
 * Minimum size of a set, as a part of the first ones and in contacts. Where each save takes long, as on a slow disk,
 * smaller sets would take just as long, and all of them together for ever.
 */
const LEAST = { part: 1 / 4, contacts: 10 }

/**
 * Saves contacts in order, in sets that are as large as can be saved in a short time. Begins no set after `until`, but at
 * least one, and none after one has failed. Waits like `saveInSets`.
 * @param first number of contacts in the first sets
 * @returns the number of contacts that were saved
 */
export async function saveInShortSets<Contact>(
  contacts: Contact[],
  save: (set: Contact[]) => Promise<unknown>,
  { first, until }: { first: number; until: number },
): Promise<number> {
  const least = Math.max(LEAST.contacts, Math.ceil(first * LEAST.part))
  let begun = 0
  let hasFailed = false
  let size = first
  const saveSome = async (): Promise<void> => {
    while (begun < contacts.length && !hasFailed && (begun === 0 || performance.now() < until)) {
      const set = contacts.slice(begun, begun + size)
      begun += set.length
      const from = performance.now()
      await save(set).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
      size = Math.max(least, sizeAfter(set.length, performance.now() - from))
    }
  }
  await waitForAll(Array.from({ length: SETS_AT_ONCE }, saveSome))
  return begun
}

/** At most twice as many as before, because the time of a few says little. */
const sizeAfter = (many: number, tookMs: number): number => Math.round(many * Math.min(2, SET_MS / Math.max(1, tookMs)))

function setsOf<Contact>(contacts: Contact[]): Contact[][] {
  if (contacts.length <= MAX_UNDIVIDED) return [contacts]
  const size = Math.ceil(contacts.length / SETS_AT_ONCE)
  return Array.from({ length: SETS_AT_ONCE }, (_, n) => contacts.slice(n * size, (n + 1) * size))
}
