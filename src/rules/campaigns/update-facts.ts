import type { FieldType } from '../events/facts.ts'
import { MAX_TAGS } from '../limits.ts'
import { fits } from '../events/traits.ts'
import type { SegmentFacts } from '../segments/membership/facts.ts'
import type { UpdateStep } from './steps.ts'

/**
 * Returns the facts of a contact after an update step, as rules see them. A trait that does not fit its field is
 * ignored. `at`: epoch milliseconds.
 */
export function updateFacts(
  facts: SegmentFacts,
  step: UpdateStep,
  { at, fields }: { at: number; fields: ReadonlyMap<string, FieldType> },
): SegmentFacts {
  const tags = new Set([...facts.tags].filter((tag) => !step.removeTags.includes(tag)))
  for (const tag of step.addTags) if (tags.size < MAX_TAGS) tags.add(tag)
  const traits = new Map(facts.traits)
  for (const [key, value] of Object.entries(fittingTraits(step, fields)))
    traits.set(key, [Math.max(at, (traits.get(key)?.[0] ?? at - 1) + 1), value === null ? null : JSON.stringify(value)])
  return { ...facts, tags, traits }
}

/** The traits that the step sets. A field that does not exist yet accepts any value. */
export const fittingTraits = (
  { traits }: Pick<UpdateStep, 'traits'>,
  fields: ReadonlyMap<string, FieldType>,
): UpdateStep['traits'] =>
  Object.fromEntries(
    Object.entries(traits).filter(([key, value]) => {
      const type = fields.get(key)
      return type === undefined || fits(type, value)
    }),
  )
