/** The details of a change in words. */
import { formatNumber } from '../../../format.ts'
import { textsOf } from '../../../texts/index.ts'
import type { AuditEntry } from '../queries.ts'

/** Whom or what it changed, and how. The server's own names are used for details without a text. */
export function describeDetails(entry: AuditEntry) {
  const parts = Object.entries(entry.details).map(([name, value]) => describeDetail(name, value))
  const email = changedUser(entry)
  if (email !== null) parts.unshift(email)
  return parts.join(', ') || (entry.target ?? '')
}

/**
 * Returns the address of the changed user; null when it is among the details. Users who changed themselves have the
 * address of that time, others their present one.
 */
export function changedUser({ actorId, actorKind, actorName, target, targetEmail, details }: AuditEntry) {
  if (details['email'] !== undefined) return null
  return actorKind === 'user' && actorId === target ? actorName : targetEmail
}

function describeDetail(name: string, value: unknown): string {
  const labels = detailLabels()
  const label = Object.hasOwn(labels, name) ? labels[name as keyof typeof labels] : name
  // `true` says no more than the label.
  return value === true ? label : `${label}: ${describeValue(name, value)}`
}

function detailLabels() {
  const { detailNames, role, kind, name, currency, country, timezone, rateLimit, pageIdentify, bots, origins } =
    textsOf('settings')
  return { ...detailNames, role, kind, name, currency, country, timezone, rateLimit, pageIdentify, bots, origins }
}

function describeValue(name: string, value: unknown): string {
  const texts = textsOf('settings')
  const { roles } = textsOf('shell')
  if (value === null) return '–'
  if (value === false) return texts.detailNo
  if (typeof value === 'number') return formatNumber(value)
  if (Array.isArray(value)) return value.map((one) => describeValue(name, one)).join(', ') || '–'
  if (typeof value !== 'string') return JSON.stringify(value)
  if (name === 'outcome' && value in texts.testOutcomes)
    return texts.testOutcomes[value as keyof typeof texts.testOutcomes]
  if (name === 'role' && value in roles) return roles[value as keyof typeof roles]
  return value
}
