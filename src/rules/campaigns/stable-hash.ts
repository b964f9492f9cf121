const FNV_BASIS = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * Returns a whole number from 0 to 9,999 for a list of texts: always the same for the same texts, and evenly spread. It
 * decides who is held out and which way a contact goes, so it must never change.
 */
export function shareOf(...texts: string[]): number {
  const key = JSON.stringify(texts)
  let hash = FNV_BASIS
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), FNV_PRIME)
  return mix(hash) % 10_000
}

/** The last step of MurmurHash3: with FNV-1a alone, the low bits of similar texts correlate. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
