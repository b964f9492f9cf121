/**
 * Returns the address that a message goes to: the first that is not suppressed, or else the first. Null when there is
 * none.
 * @param addresses the primary one first
 */
export function chooseAddress(addresses: readonly string[], isSuppressed: (address: string) => boolean): string | null {
  return addresses.find((address) => !isSuppressed(address)) ?? addresses[0] ?? null
}
