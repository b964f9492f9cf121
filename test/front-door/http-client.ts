/** Calls a front door over real HTTP, in JSON. */

export interface Answer {
  status: number
  headers: Headers
  text: string
  body: {
    success: boolean
    message: string
    data: Record<string, unknown>
    error: { code: string; issues?: { path: string; message: string }[] }
  }
}

export interface Said {
  key?: string | undefined
  /** Sent as JSON. */
  json?: unknown
  /** Sent unchanged. */
  raw?: string | Uint8Array<ArrayBuffer> | ReadableStream
  headers?: Record<string, string>
}

export type Speak = (method: string, path: string, said?: Said) => Promise<Answer>

export function speakTo(url: string): Speak {
  return async (method, path, { key, json, raw, headers } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: raw ?? (json === undefined ? null : JSON.stringify(json)),
      // A streamed body is sent in chunks, without its length.
      ...(raw instanceof ReadableStream && { duplex: 'half' }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    const body = (isJson && text !== '' ? JSON.parse(text) : {}) as Answer['body']
    return { status: response.status, headers: response.headers, text, body }
  }
}

/** The user agent of a browser. Without it, a caller of the endpoints for pages counts as a bot. */
export const BROWSER = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
}

/** Makes the front door answer 202 at once, so that no worker is needed. */
export const ASYNC = { prefer: 'respond-async' }

/** Returns `{"a":"xx…"}` of exactly `bytes` bytes. */
export function jsonOfBytes(bytes: number): Record<string, string> {
  return { a: 'x'.repeat(bytes - '{"a":""}'.length) }
}
