import type { RuleValue, TextOperator } from '../rule.ts'

/** Returns a test of whether a defined text satisfies a text operator. */
export function compileTextTest(
  operator: TextOperator,
  value: RuleValue | undefined,
  ignoreCase = false,
): (text: string) => boolean {
  const test = TESTS[operator](textsOf(value, ignoreCase))
  return ignoreCase ? (text) => test(fold(text, true)) : test
}

const TESTS: Record<TextOperator, (texts: string[]) => (text: string) => boolean> = {
  exists: () => () => true,
  not_exists: () => () => false,
  equals:
    ([first]) =>
    (text) =>
      text === first,
  not_equals:
    ([first]) =>
    (text) =>
      text !== first,
  contains:
    ([first = '']) =>
    (text) =>
      text.includes(first),
  starts_with:
    ([first = '']) =>
    (text) =>
      text.startsWith(first),
  ends_with:
    ([first = '']) =>
    (text) =>
      text.endsWith(first),
  in: (texts) => {
    const set = new Set(texts)
    return (text) => set.has(text)
  },
}

/** Returns the texts that an operator compares with. With `ignoreCase`, the letters A to Z are in lower case. */
export const textsOf = (value: RuleValue | undefined, ignoreCase: boolean): string[] =>
  (Array.isArray(value) ? value : [value ?? '']).map((text) => fold(String(text), ignoreCase))

/** Converts A to Z to lower case; no other letter changes. */
const fold = (text: string, ignoreCase: boolean): string =>
  ignoreCase ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text
