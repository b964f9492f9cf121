/** Requests whose bytes were changed on the way: the data on a connection is not always HTTP. */
import * as fc from 'fast-check'
import { type Callers, makeRequest, writeRequest } from './make-requests.ts'

const PIECES = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\u00FF\u00FE',
  'HTTP/1.1',
  'HTTP/9.9',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Expect: 100-continue\r\n',
  'Host: a/b?c#d@e:99999\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\u0016\u0003\u0001\u0002\0\u0001',
  'ffffffffffffffff\r\n',
  'x'.repeat(20_000),
]

/** The place as a share of the whole, so that it survives the shrinking of the request. */
const place = fc.double({ min: 0, max: 1, noNaN: true })
const mangling = fc.oneof(
  fc.record({ do: fc.constant('insert' as const), at: place, piece: fc.constantFrom(...PIECES) }),
  fc.record({ do: fc.constant('cut' as const), at: place }),
  fc.record({ do: fc.constant('drop' as const), at: place, count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ do: fc.constant('double' as const), at: place, count: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ do: fc.constant('flip' as const), at: place, bit: fc.integer({ min: 0, max: 7 }) }),
)
type Mangling = typeof mangling extends fc.Arbitrary<infer M> ? M : never

function mangle(bytes: string, mangling: Mangling): string {
  // The head is short, but decides more than the body.
  const end = bytes.indexOf('\r\n\r\n') + 4
  const at = Math.floor(mangling.at * Math.min(bytes.length, end * 2))
  const [before, after] = [bytes.slice(0, at), bytes.slice(at)]
  switch (mangling.do) {
    case 'insert':
      return before + mangling.piece + after
    case 'cut':
      return before
    case 'drop':
      return before + after.slice(mangling.count)
    case 'double':
      return before + after.slice(0, mangling.count) + after
    case 'flip':
      return before + String.fromCharCode((after.charCodeAt(0) || 0) ^ (1 << mangling.bit)) + after.slice(1)
  }
}

export function makeMangledBytes(callers: Callers): fc.Arbitrary<string> {
  return fc
    .tuple(makeRequest(callers), fc.array(mangling, { minLength: 1, maxLength: 3 }))
    .map(([request, manglings]) => manglings.reduce(mangle, writeRequest(request)))
}
