/** How conditions name the properties of an event: dots descend into objects and, by numbers from 0 on, into arrays. */

/** The names of a path. `\.` is a dot in a name. */
export const namesOf = (path: string): string[] => path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))

/** A name that finds an item of an array. */
export const INDEX = /^(0|[1-9][0-9]{0,8})$/

/** What the names lead to in parsed JSON. Undefined when they lead nowhere, or to null. */
export function valueAt(json: unknown, names: readonly string[]): unknown {
  let at = json
  for (const name of names) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    if (Array.isArray(at) && !INDEX.test(name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at ?? undefined
}

/** What an event has beside its properties, with the types of the values. */
export const PSEUDO_PROPERTIES = { value: 'number', currency: 'text', type: 'text' } as const

/** They win over properties of those names. */
export const isPseudoProperty = (property: string): property is keyof typeof PSEUDO_PROPERTIES =>
  Object.hasOwn(PSEUDO_PROPERTIES, property)
