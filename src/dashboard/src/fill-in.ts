export type Values = Record<string, string | number>

/**
 * Puts the values into the gaps (`{name}`) of a text. A string is isolated: it can be of another direction than the text,
 * and must not turn the words round.
 */
export const fillIn = (text: string, values: Values, formatNumber: (value: number) => string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? formatNumber(value) : `\u2068${value}\u2069`
  })
