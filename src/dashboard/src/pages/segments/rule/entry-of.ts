/** An own entry of a record. Pasted JSON may name anything, `constructor` too. */
export const entryOf = <Value>(record: Readonly<Record<string, Value>>, key: unknown): Value | undefined =>
  typeof key === 'string' && Object.hasOwn(record, key) ? record[key] : undefined
