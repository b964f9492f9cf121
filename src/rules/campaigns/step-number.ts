/** The numbers of steps, for people. Lists inside a step have letters: 1b.2 is the second step in the second list of step 1. */

/** @param path as in `walkSteps`, such as `steps[0].otherwise[1]` */
export const numberOf = (path: string): string =>
  [...path.matchAll(/(steps|otherwise|parts\[(\d+)\]\.steps)\[(\d+)\]/g)]
    .map(([, list, part, at], level) => {
      const number = String(Number(at) + 1)
      return level === 0 ? number : `${lettersOf(list === 'otherwise' ? 1 : Number(part ?? 0))}.${number}`
    })
    .join('')

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** a to z, then aa, ab and so on. */
const lettersOf = (at: number): string =>
  (at < LETTERS.length ? '' : lettersOf(Math.floor(at / LETTERS.length) - 1)) + LETTERS.charAt(at % LETTERS.length)
