/** An operation of the OpenAPI document as a command for a shell in which `BASE` and, where one is needed, `KEY` are set. */

interface Asked {
  security: object[]
  parameters: { name: string; in: string; example?: string }[]
  requestBody?: { content: { 'application/json': { example: object } } }
}

/** What programs say of themselves counts as a bot's: endpoints of pages would record nothing. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

export function curlExample(method: string, path: string, { security, parameters, requestBody }: Asked): string {
  const verb = method === 'get' ? '' : `-X ${method.toUpperCase()} `
  const words = [`curl ${verb}"$BASE${addressOf(path, parameters)}"`]
  words.push(security.some((scheme) => 'key' in scheme) ? '-H "Authorization: Bearer $KEY"' : `-A ${quote(BROWSER)}`)
  if (requestBody !== undefined) {
    const { example } = requestBody.content['application/json']
    words.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(example))}`)
  }
  return words.join(' \\\n  ')
}

/** With the examples of its parameters; one without an example is left out. */
function addressOf(path: string, parameters: Asked['parameters']): string {
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
