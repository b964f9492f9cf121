import { isRecord } from '../../rules/is-record.ts'

/**
 * Returns a warning for each of `traits`, `tags` and `value` in the body of a caller without a secret key (decisions,
 * "Callers without a secret key"). Empty or malformed traits and tags get no warning.
 */
export function warnOfIgnored(raw: unknown): string[] {
  const { traits, tags, value } = isRecord(raw) ? raw : {}
  const warnings: string[] = []
  if (isRecord(traits) && Object.keys(traits).length > 0) warnings.push('traits were ignored: they need a secret key')
  if (Array.isArray(tags) && tags.length > 0) warnings.push('tags were ignored: they need a secret key')
  if (value !== undefined && value !== null) warnings.push('value was ignored: it needs a secret key')
  return warnings
}
