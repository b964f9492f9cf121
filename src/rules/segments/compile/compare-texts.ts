import type { RuleValue, TextOperator } from '../rule.ts'

/** Returns a test of whether a defined text satisfies a text operator. */
export function compileTextTest(
  operator: TextOperator,
  value: RuleValue | undefined,
  ignoreCase = false,
): (text: string) => boolean {
  if (operator === 'exists') return () => true
  if (operator === 'not_exists') return () => false
  const texts = textsOf(value, ignoreCase)
  const test = compile(operator, texts)
  return ignoreCase ? (text) => test(fold(text, true)) : test
}

function compile(
  operator: Exclude<TextOperator, 'exists' | 'not_exists'>,
  [first = '', ...others]: string[],
): (text: string) => boolean {
  switch (operator) {
    case 'equals':
      return (text) => text === first
    case 'not_equals':
      return (text) => text !== first
    case 'contains':
      return (text) => text.includes(first)
    case 'starts_with':
      return (text) => text.startsWith(first)
    case 'ends_with':
      return (text) => text.endsWith(first)
    case 'in': {
      const texts = new Set([first, ...others])
      return (text) => texts.has(text)
    }
  }
}

/** Returns the texts that an operator compares with. With `ignoreCase`, the letters A to Z are in lower case. */
export const textsOf = (value: RuleValue | undefined, ignoreCase: boolean): string[] =>
  (Array.isArray(value) ? value : [value ?? '']).map((text) => fold(String(text), ignoreCase))

/** Converts A to Z to lower case; no other letter changes. */
const fold = (text: string, ignoreCase: boolean): string =>
  ignoreCase ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text
