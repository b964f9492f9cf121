/**
 * The order in which people write a condition: what it reads, then the comparison. Postgres stores the keys of an
 * object in its own order.
 */
const ORDER = [
  'all',
  'any',
  'not',
  'event',
  'customField',
  'tag',
  'attribute',
  'segment',
  'channel',
  'metric',
  'property',
  'currency',
  'withinDays',
  'where',
  'operator',
  'value',
  'ignoreCase',
]

/** Returns the same rule with the keys of each object in that order, and all other keys after them. */
export function orderWords<Json>(json: Json): Json {
  if (Array.isArray(json)) return json.map(orderWords) as Json
  if (typeof json !== 'object' || json === null) return json
  const words = Object.keys(json).toSorted((a, b) => place(a) - place(b))
  return Object.fromEntries(words.map((word) => [word, orderWords(json[word as keyof Json & string])])) as Json
}

function place(word: string): number {
  const at = ORDER.indexOf(word)
  return at === -1 ? ORDER.length : at
}
