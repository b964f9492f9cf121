export type Values = Record<string, string | number>

/**
 * Replaces the placeholders (`{name}`) of a text with values. A string is isolated, because it may run in another
 * direction than the text and must not reorder the words around it.
 */
export const fillIn = (text: string, values: Values, formatNumber: (value: number) => string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? formatNumber(value) : `\u2068${value}\u2069`
  })
