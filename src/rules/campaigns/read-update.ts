import { moveFault } from '../faults.ts'
import { readTags } from '../events/tags.ts'
import { readTraits } from '../events/traits.ts'
import { type Faults, addFaults, fault, isObject } from '../segments/reading/reading.ts'
import type { UpdateStep } from './steps.ts'

/** Finds the faults of an update step whose fields have none. What a call would skip with a warning is a fault here. */
export function checkUpdate(reading: Faults, { addTags, removeTags, traits }: UpdateStep, path: string): boolean {
  const isEmpty = addTags.length + removeTags.length + Object.keys(traits).length === 0
  const isTwice = removeTags.some((tag) => addTags.includes(tag))
  if (isEmpty) fault(reading, path, 'an_update')
  if (isTwice) fault(reading, `${path}.removeTags`, 'in_both_tags')
  return !isEmpty && !isTwice
}

/** Reads tags within the limits of a call. */
export function readTagsOf(reading: Faults, sent: unknown, path: string): string[] | undefined {
  if (!Array.isArray(sent) || !sent.every((tag) => typeof tag === 'string')) {
    fault(reading, path, 'tags')
    return undefined
  }
  const { tags, faults } = readTags(sent)
  const moved = faults.map((found) =>
    moveFault(
      found,
      found.path.replace(/^tags(?:\.(\d+))?$/, (_, index?: string) =>
        index === undefined ? path : `${path}[${index}]`,
      ),
    ),
  )
  addFaults(reading, moved)
  return faults.length > 0 ? undefined : tags
}

/** Reads traits within the limits of a call. `path` ends in `traits`. */
export function readTraitsOf(reading: Faults, sent: unknown, path: string): UpdateStep['traits'] | undefined {
  if (!isObject(sent)) {
    fault(reading, path, 'traits')
    return undefined
  }
  const { traits, warnings, faults } = readTraits(sent)
  addFaults(
    reading,
    faults.map((found) => moveFault(found, found.path.replace(/^traits/, path))),
  )
  for (const warning of warnings) fault(reading, path, 'skipped_trait', { warning })
  return faults.length + warnings.length > 0 ? undefined : traits
}
