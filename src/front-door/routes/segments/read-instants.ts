import { readIso } from '../../../rules/events/read-iso.ts'
import { faultOf } from '../../../rules/faults.ts'
import { invalidRequest } from '../../http/check-body.ts'

/** Returns epoch ms by name; names that were not sent are absent. Throws RequestError `invalid_request`. */
export function readInstants<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): Partial<Record<Name, number>> {
  const sent = names.filter((name) => query.has(name))
  const read = sent.map((name) => [name, readIso((query.get(name) ?? '').trim())] as const)
  const issues = read.filter(([, at]) => at === undefined).map(([path]) => faultOf(path, 'instant'))
  if (issues.length > 0) throw invalidRequest(issues)
  return Object.fromEntries(read) as Partial<Record<Name, number>>
}
