import { textsOf } from '../../texts/index.ts'

interface Warning {
  /** Path of the operator of a condition, such as `rule.all[0].operator`. */
  path: string
  message: string
}

/**
 * Returns a warning of the server in the language of the page: a custom field has values of another type than the
 * condition needs.
 */
export function sayWarning(rule: unknown, { path, message }: Warning): string {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '')
  const condition = steps.slice(1, -1).reduce<unknown>((part, step) => (part as Record<string, unknown>)?.[step], rule)
  const name = (condition as { customField?: unknown } | undefined)?.customField
  return typeof name === 'string' ? textsOf('segments').otherType(name) : message
}
