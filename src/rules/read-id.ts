const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** Returns a UUID in lower case; null for any other text. */
export function readId(text: string | undefined): string | null {
  const id = text?.toLowerCase() ?? ''
  return UUID.test(id) ? id : null
}
