/** Orders of rows: two saves that touch the same rows wait for each other. */
export const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
export const byFirst = ([a]: [string, unknown], [b]: [string, unknown]) => byText(a, b)
export const byId = (a: { id: string }, b: { id: string }) => byText(a.id, b.id)

/** Returns the values in the order of their keys. For long lists: sorting only texts needs a quarter of the time. */
export const inOrderOfKeys = <Value>(values: ReadonlyMap<string, Value>): Value[] =>
  [...values.keys()].sort().map((key) => values.get(key)!)
