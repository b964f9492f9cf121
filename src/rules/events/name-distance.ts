/** Longer names are not compared. */
export const MAX_NAME = 64

/** Three rows of the distance table, reused by each call: a comparison allocates no memory. */
const rows = [new Uint8Array(MAX_NAME + 1), new Uint8Array(MAX_NAME + 1), new Uint8Array(MAX_NAME + 1)] as const

/**
 * Returns the number of edits between two names, or Infinity if it is more than `max`. An edit inserts, deletes or
 * replaces one letter, or swaps two adjacent letters (optimal string alignment).
 */
export function nameDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max || a.length > MAX_NAME || b.length > MAX_NAME) return Infinity
  let [before, last, row] = rows
  for (let j = 0; j <= b.length; j += 1) last[j] = j
  for (let i = 1; i <= a.length; i += 1) {
    const [sign, signBefore] = [a.charCodeAt(i - 1), a.charCodeAt(i - 2)]
    let least = i
    row[0] = i
    for (let j = 1; j <= b.length; j += 1) {
      const other = b.charCodeAt(j - 1)
      let cost = last[j - 1]! + (sign === other ? 0 : 1)
      cost = Math.min(cost, last[j]! + 1, row[j - 1]! + 1)
      const isSwap = i > 1 && j > 1 && sign === b.charCodeAt(j - 2) && signBefore === other
      if (isSwap) cost = Math.min(cost, before[j - 2]! + 1)
      row[j] = cost
      least = Math.min(least, cost)
    }
    if (least > max) return Infinity
    ;[before, last, row] = [last, row, before]
  }
  const distance = last[b.length]!
  return distance > max ? Infinity : distance
}
