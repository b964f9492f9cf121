/** The word that was meant when a command or an option was mistyped. */
import { nameDistance } from '../rules/events/name-distance.ts'

/** More edits make another word. */
const MAX_EDITS = 3

/** The word itself, or else the most similar one, or else the only one that begins with what was typed. */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  const most = Math.min(MAX_EDITS, Math.max(1, Math.round(typed.length / 3)))
  let [nearest, least]: [string | undefined, number] = [undefined, Infinity]
  for (const word of words) {
    const distance = nameDistance(typed, word, most)
    if (distance < least) [nearest, least] = [word, distance]
  }
  if (nearest !== undefined) return nearest
  const begun = typed === '' ? [] : words.filter((word) => word.startsWith(typed))
  return begun.length === 1 ? begun[0] : undefined
}
