/**
 * The paths of event properties in conditions: dots descend into objects and, with indexes starting at 0, into arrays.
 */

import { MAX_PARTS, MAX_PATH } from '../grammar/limits.ts'
import { type Faults, fault, readName } from './reading.ts'

/** Returns the names of a path. `\.` is a dot in a name. */
export const namesOf = (path: string): string[] => path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))

/** Returns the path when it is one; otherwise reports a fault and returns undefined. */
export function readPropertyPath(reading: Faults, raw: unknown, path: string, max = MAX_PATH): string | undefined {
  const property = readName(reading, raw, path, max)
  if (property === undefined || namesOf(property).length <= MAX_PARTS) return property
  fault(reading, path, 'path_parts', { max: MAX_PARTS })
  return undefined
}

/** A name that selects an item of an array. */
export const INDEX = /^(0|[1-9][0-9]{0,8})$/

/** Returns the value at a path in parsed JSON. Undefined when there is none, or when it is null. */
export function valueAt(json: unknown, names: readonly string[]): unknown {
  let at = json
  for (const name of names) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    if (Array.isArray(at) && !INDEX.test(name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at ?? undefined
}

/** Parts of an event other than its properties, with the types of their values. */
export const PSEUDO_PROPERTIES = { value: 'number', currency: 'text', type: 'text' } as const

/** These names take precedence over properties of the same name. */
export const isPseudoProperty = (property: string): property is keyof typeof PSEUDO_PROPERTIES =>
  Object.hasOwn(PSEUDO_PROPERTIES, property)
