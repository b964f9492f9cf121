/** Arithmetic on two figures: `a`, `b`, numbers, `+ - * /` and parentheses. */

/** Null for a division by 0. */
export type Formula = (a: number, b: number) => number | null

const TOKEN = /\s*(\d+(?:\.\d+)?|[ab+\-*/()])/y
/** Deeper parentheses are refused. */
const MAX_DEPTH = 20

/** Undefined for a text that is not a formula. */
export function readFormula(text: string): Formula | undefined {
  const tokens = tokensOf(text.trim())
  if (tokens === undefined) return undefined
  let at = 0
  const takes = (...wanted: string[]): string | undefined => {
    const token = tokens[at]
    if (token === undefined || !wanted.includes(token)) return undefined
    at += 1
    return token
  }
  const chain = (inner: (depth: number) => Formula | undefined, ...operators: string[]) => {
    return (depth: number): Formula | undefined => {
      let left = inner(depth)
      for (let operator = takes(...operators); left && operator !== undefined; operator = takes(...operators)) {
        const right = inner(depth)
        left = right && combine(left, operator, right)
      }
      return left
    }
  }
  const atom = (depth: number): Formula | undefined => {
    if (takes('(') !== undefined) {
      const inside = depth < MAX_DEPTH ? sum(depth + 1) : undefined
      return takes(')') === undefined ? undefined : inside
    }
    const token = tokens[at]
    at += 1
    if (token === 'a') return (a) => a
    if (token === 'b') return (_, b) => b
    const number = Number(token ?? Number.NaN)
    return Number.isFinite(number) ? () => number : undefined
  }
  const sum = chain(chain(atom, '*', '/'), '+', '-')
  const formula = sum(0)
  return at === tokens.length ? formula : undefined
}

function tokensOf(text: string): string[] | undefined {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const [, token] = TOKEN.exec(text) ?? []
    if (token === undefined) return undefined
    tokens.push(token)
  }
  return tokens
}

function combine(left: Formula, operator: string, right: Formula): Formula {
  return (a, b) => {
    const [one, other] = [left(a, b), right(a, b)]
    if (one === null || other === null) return null
    const result = OPERATIONS[operator]?.(one, other) ?? Number.NaN
    return Number.isFinite(result) ? result : null
  }
}

const OPERATIONS: Record<string, (one: number, other: number) => number> = {
  '+': (one, other) => one + other,
  '-': (one, other) => one - other,
  '*': (one, other) => one * other,
  '/': (one, other) => one / other,
}
