/** Orders of rows: two saves that touch the same rows wait for each other. */
export const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
export const byFirst = ([a]: [string, unknown], [b]: [string, unknown]) => byText(a, b)
export const byId = (a: { id: string }, b: { id: string }) => byText(a.id, b.id)
