/** A text as ClickHouse's SQL holds it. */
export const textLiteral = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
