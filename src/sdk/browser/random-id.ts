/** Returns 128 random bits as 32 lower-case hex digits, the format of a visitor id. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join('')
}
