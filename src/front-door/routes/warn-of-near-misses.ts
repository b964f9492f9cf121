/**
 * Unknown fields are ignored. A field whose name is similar to that of a known field gets a warning (decisions,
 * "Envelope").
 */
import type { TSchema } from '@sinclair/typebox'
import { MAX_NAME, nameDistance } from '../../rules/events/name-distance.ts'
import { sanitiseText } from '../../rules/events/text.ts'
import { isRecord } from '../../rules/is-record.ts'

/** Shorter names are similar to too many words. */
const MIN_LETTERS = 5
const MAX_DISTANCE = 2
/** Unknown fields of one object that are compared at most, to limit the cost of a hostile body. */
const MAX_COMPARED = 50
const MAX_WARNINGS = 10

/**
 * Returns a warning for each unknown field of a body, or of its `identity` and `profile`, that is similar to a known
 * one.
 */
export type WarnOfNearMisses = (raw: unknown) => string[]

type Find = (value: unknown) => string[]

/** Compiles the schema of a body once. A body with only known fields costs one lookup per field. */
export function compileNearMisses(schema: TSchema): WarnOfNearMisses {
  const fields = schema['properties'] as Record<string, TSchema>
  const inBody = compileObject('', Object.keys(fields))
  const inside = ['identity', 'profile'].flatMap((name): [string, Find][] => {
    const names = fields[name]?.['properties'] as object | undefined
    return names === undefined ? [] : [[name, compileObject(`${name}.`, Object.keys(names))]]
  })
  return (raw) => {
    if (!isRecord(raw)) return []
    const warnings = inBody(raw)
    for (const [name, find] of inside) warnings.push(...find(raw[name]))
    return warnings.length > MAX_WARNINGS ? warnings.slice(0, MAX_WARNINGS) : warnings
  }
}

function compileObject(path: string, names: readonly string[]): Find {
  const known = new Set(names)
  const plain = names.map((name) => ({ name, letters: lettersOf(name) })).filter(({ letters }) => isLong(letters))
  return (value) => {
    if (!isRecord(value)) return []
    const warnings: string[] = []
    let compared = 0
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue
      if (++compared > MAX_COMPARED) break
      const similar = findSimilar(name, plain, value)
      if (similar === undefined) continue
      const sent = sanitiseText(name).text
      warnings.push(`${path}${sent} was ignored: there is no such field; did you mean ${path}${similar}?`)
    }
    return warnings
  }
}

/**
 * Returns the known field with the same letters in any case, or else the most similar one that was not sent as well.
 */
function findSimilar(
  name: string,
  known: readonly { name: string; letters: string }[],
  body: Record<string, unknown>,
): string | undefined {
  if (name.length > MAX_NAME) return undefined
  const letters = lettersOf(name)
  if (!isLong(letters)) return undefined
  let [similar, least]: [string | undefined, number] = [undefined, MAX_DISTANCE + 1]
  for (const field of known) {
    const distance = nameDistance(letters, field.letters, MAX_DISTANCE)
    if (distance >= least || (distance > 0 && Object.hasOwn(body, field.name))) continue
    similar = field.name
    least = distance
  }
  return similar
}

const lettersOf = (name: string): string => name.replaceAll('_', '').toLowerCase()

const isLong = (letters: string): boolean => letters.length >= MIN_LETTERS
