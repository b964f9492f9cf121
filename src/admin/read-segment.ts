/** Reads the words of a segment. Each function throws SettingError with the rule that the text breaks. */
import { SettingError } from '../businesses/settings.ts'
import { isClean, trimText } from '../rules/events/text.ts'
import { MAX_DESCRIPTION, MAX_NAME } from '../segments/limits.ts'

export function readSegmentName(sent: string): string {
  const name = trimText(sent)
  if (name === '' || name.length > MAX_NAME) throw new SettingError(`must have 1 to ${MAX_NAME} characters`)
  return requireClean(name)
}

/** Null for an empty text. */
export function readSegmentDescription(sent: string): string | null {
  const description = trimText(sent)
  if (description.length > MAX_DESCRIPTION) throw new SettingError(`must have at most ${MAX_DESCRIPTION} characters`)
  return requireClean(description) || null
}

function requireClean(words: string): string {
  if (!isClean(words)) throw new SettingError('must not contain NUL characters or lone surrogates')
  return words
}
