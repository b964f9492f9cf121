/** Window rows are identified by the hash of the window's key: a key can be as long as a rule. */
import { hash } from 'node:crypto'
import type { CompiledSegments } from '../../rules/segments/compile/compile-segments.ts'

/** Returns 128 bits of the key's SHA-256, as a UUID in text form. */
export function hashWindowKey(key: string): string {
  const hex = hash('sha256', key, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

const known = new WeakMap<CompiledSegments, ReadonlyMap<string, string>>()

/** Returns the keys of the windows that the segments of a business read, by hash. */
export function windowKeysByHash(segments: CompiledSegments | null | undefined): ReadonlyMap<string, string> {
  if (!segments || segments.windows.size === 0) return NONE
  let keys = known.get(segments)
  if (!keys) known.set(segments, (keys = new Map([...segments.windows.keys()].map((key) => [hashWindowKey(key), key]))))
  return keys
}

const NONE: ReadonlyMap<string, string> = new Map()
