/** Quotes a text as a string literal of ClickHouse. */
export const textLiteral = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
