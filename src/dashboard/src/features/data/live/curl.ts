interface Sent {
  method: string
  route: string
  query: string
  contactId: string | null
  body: unknown
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
/** No shell reads more than the text itself in these characters. */
const quoteIfNeeded = (text: string): string => (/^[\w./:@%+,-]+$/.test(text) ? text : quote(text))

/**
 * Returns a request as a shell command. Whatever a shell could read is quoted, so that no text can end the quotes.
 * Without a key, the command has a placeholder.
 */
export function curlOf({ method, route, query, contactId, body }: Sent, origin: string, key = 'YOUR_KEY'): string {
  const path = contactId === null ? route : route.replace(':contactId', contactId)
  const parts = [
    `curl -X ${quoteIfNeeded(method)} ${quoteIfNeeded(origin + path + (query === '' || query.startsWith('?') ? query : `?${query}`))}`,
    `-H ${quote(`Authorization: Bearer ${key}`)}`,
  ]
  if (body != null) parts.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body))}`)
  return parts.join(' \\\n  ')
}

export const firstEvent = (origin: string, key?: string): string =>
  curlOf(
    {
      method: 'POST',
      route: '/api/sdk/track',
      query: '',
      contactId: null,
      body: { event: 'signup', identity: { email: 'ada@example.com' } },
    },
    origin,
    key,
  )
