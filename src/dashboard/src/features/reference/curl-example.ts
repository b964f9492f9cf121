/**
 * Returns an operation of the OpenAPI document as a shell command. The shell must have `BASE` set, and `KEY` when the
 * operation needs a key.
 */

import type { Operation } from './description.ts'

type Described = Pick<Operation, 'method' | 'path' | 'security' | 'requestBody'> & {
  parameters: { name: string; in: string; example?: string }[]
}

/** Sluice treats curl's own User-Agent as a bot: the endpoints for pages would record nothing. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

export function curlExample({ method, path, security, parameters, requestBody }: Described): string {
  const verb = method === 'get' ? '' : `-X ${method.toUpperCase()} `
  const parts = [`curl ${verb}"$BASE${addressOf(path, parameters)}"`]
  parts.push(security.some((scheme) => 'key' in scheme) ? '-H "Authorization: Bearer $KEY"' : `-A ${quote(BROWSER)}`)
  if (requestBody !== undefined) {
    const { example } = requestBody.content['application/json']
    parts.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(example))}`)
  }
  return parts.join(' \\\n  ')
}

/** Returns the path and query with example parameters. Parameters without an example are omitted. */
function addressOf(path: string, parameters: Described['parameters']): string {
  let address = path
  const query: string[] = []
  for (const { name, in: place, example } of parameters) {
    if (example === undefined) continue
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(example))
    if (place === 'query') query.push(`${name}=${encodeURIComponent(example)}`)
  }
  return query.length === 0 ? address : `${address}?${query.join('&')}`
}

const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
