import { moveFault } from '../faults.ts'
import { readTags } from '../events/tags.ts'
import { readTraits } from '../events/traits.ts'
import { type Faults, type RawObject, addFaults, fault, isObject } from '../segments/reading/reading.ts'
import { take } from './read-words.ts'
import type { UpdateStep } from './steps.ts'

/**
 * Returns the changes of an update step, within the limits of a call. What a call would skip with a warning is a fault
 * here. Undefined: it has faults.
 */
export function readUpdate(
  reading: Faults,
  raw: RawObject,
  path: string,
): Pick<UpdateStep, 'addTags' | 'removeTags' | 'traits'> | undefined {
  const addTags = readTagsOf(reading, raw, path, 'addTags')
  const removeTags = readTagsOf(reading, raw, path, 'removeTags')
  const traits = readTraitsOf(reading, raw, path)
  if (addTags === undefined || removeTags === undefined || traits === undefined) return undefined
  if (addTags.length + removeTags.length + Object.keys(traits).length === 0) {
    fault(reading, path, 'an_update')
    return undefined
  }
  const both = removeTags.filter((tag) => addTags.includes(tag))
  if (both.length > 0) fault(reading, `${path}.removeTags`, 'in_both_tags')
  return both.length > 0 ? undefined : { addTags, removeTags, traits }
}

function readTagsOf(
  reading: Faults,
  raw: RawObject,
  path: string,
  field: 'addTags' | 'removeTags',
): string[] | undefined {
  const sent = take(raw, field) ?? []
  if (!Array.isArray(sent) || !sent.every((tag) => typeof tag === 'string')) {
    fault(reading, `${path}.${field}`, 'tags')
    return undefined
  }
  const { tags, faults } = readTags(sent)
  for (const found of faults) {
    const at = found.path.replace(/^tags(?:\.(\d+))?$/, (_, index?: string) =>
      index === undefined ? field : `${field}[${index}]`,
    )
    addFaults(reading, [moveFault(found, `${path}.${at}`)])
  }
  return faults.length > 0 ? undefined : tags
}

function readTraitsOf(reading: Faults, raw: RawObject, path: string): UpdateStep['traits'] | undefined {
  const sent = take(raw, 'traits') ?? {}
  if (!isObject(sent)) {
    fault(reading, `${path}.traits`, 'traits')
    return undefined
  }
  const { traits, warnings, faults } = readTraits(sent)
  addFaults(
    reading,
    faults.map((found) => moveFault(found, `${path}.${found.path}`)),
  )
  for (const warning of warnings) fault(reading, `${path}.traits`, 'skipped_trait', { warning })
  return faults.length + warnings.length > 0 ? undefined : traits
}
