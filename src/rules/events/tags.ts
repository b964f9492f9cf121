import { type Fault, faultOf } from '../faults.ts'
import { isClean, trimText } from './text.ts'

const MAX_TAGS = 50
const MAX_LENGTH = 64

/**
 * Reads the tags of an event: trimmed, without duplicates, at most 50 as sent, each 1 to 64 characters long (contract,
 * "Event").
 */
export function readTags(raw: readonly string[]): { tags: string[]; faults: Fault[] } {
  if (raw.length > MAX_TAGS) {
    return { tags: [], faults: [faultOf('tags', 'items_up_to', { max: MAX_TAGS })] }
  }
  const trimmed = raw.map((tag) => trimText(tag))
  const faults = trimmed.flatMap((tag, index) => faultsOf(tag, `tags.${index}`))
  return { tags: faults.length > 0 ? [] : [...new Set(trimmed)], faults }
}

function faultsOf(tag: string, path: string): Fault[] {
  if (tag.length === 0 || tag.length > MAX_LENGTH) {
    return [faultOf(path, 'characters', { min: 1, max: MAX_LENGTH })]
  }
  return isClean(tag) ? [] : [faultOf(path, 'clean_text')]
}
