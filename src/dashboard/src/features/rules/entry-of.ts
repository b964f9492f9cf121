/** Returns an own entry of a record. Pasted JSON may contain any name, even `constructor`. */
export const entryOf = <Value>(record: Readonly<Record<string, Value>>, key: unknown): Value | undefined =>
  typeof key === 'string' && Object.hasOwn(record, key) ? record[key] : undefined
