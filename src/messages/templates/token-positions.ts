/**
 * Where a token of LiquidJS stands. LiquidJS itself counts the lines from the beginning for each token that a template
 * reads a value with, which takes a minute for the largest templates.
 */
import { Token } from 'liquidjs'

let last = { input: '', starts: [0] }

Token.prototype.getPosition = function (this: Token): [row: number, column: number] {
  if (last.input !== this.input) last = { input: this.input, starts: lineStarts(this.input) }
  const row = lastUpTo(last.starts, this.begin)
  return [row + 1, this.begin - (last.starts[row] ?? 0) + 1]
}

function lineStarts(input: string): number[] {
  const starts = [0]
  for (let at = input.indexOf('\n'); at !== -1; at = input.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The place of the last of these ascending numbers that is not greater than `limit`. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((numbers[middle] ?? 0) <= limit) low = middle
    else high = middle - 1
  }
  return low
}
