import { type Fault, faultOf } from '../faults.ts'
import { isClean, trimText } from './text.ts'

export const MAX_TAGS_OF_CALL = 50
export const MAX_TAG = 64

/**
 * Reads the tags of an event: trimmed, without duplicates, at most 50 as sent, each 1 to 64 characters long (contract,
 * "Event").
 */
export function readTags(raw: readonly string[]): { tags: string[]; faults: Fault[] } {
  if (raw.length === 0) return { tags: [], faults: [] }
  if (raw.length > MAX_TAGS_OF_CALL) {
    return { tags: [], faults: [faultOf('tags', 'items_up_to', { max: MAX_TAGS_OF_CALL })] }
  }
  const trimmed = raw.map((tag) => trimText(tag))
  const faults = trimmed.flatMap((tag, index) => faultsOf(tag, `tags.${index}`))
  return { tags: faults.length > 0 ? [] : [...new Set(trimmed)], faults }
}

function faultsOf(tag: string, path: string): Fault[] {
  if (tag.length === 0 || tag.length > MAX_TAG) {
    return [faultOf(path, 'characters', { min: 1, max: MAX_TAG })]
  }
  return isClean(tag) ? [] : [faultOf(path, 'clean_text')]
}
