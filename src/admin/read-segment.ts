/**
 * Reads the name and description of a segment. Each function throws SettingError with the rule that the text violates.
 */
import { SettingError } from '../businesses/settings.ts'
import { isClean, trimText } from '../rules/events/text.ts'
import { MAX_DESCRIPTION, MAX_NAME } from '../segments/limits.ts'

export function readSegmentName(sent: string): string {
  const name = trimText(sent)
  if (name === '' || name.length > MAX_NAME) throw new SettingError('characters', { min: 1, max: MAX_NAME })
  return requireClean(name)
}

/** Returns null for an empty text. */
export function readSegmentDescription(sent: string): string | null {
  const description = trimText(sent)
  if (description.length > MAX_DESCRIPTION) throw new SettingError('characters_up_to', { max: MAX_DESCRIPTION })
  return requireClean(description) || null
}

function requireClean(words: string): string {
  if (!isClean(words)) throw new SettingError('clean_text')
  return words
}
