/** Combines the objects into one, with keys in snake case: `businessId` becomes `business_id`. */
export function inSnakeCase(...objects: object[]): Record<string, unknown> {
  const entries = objects.flatMap((object) => Object.entries(object))
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  )
}
