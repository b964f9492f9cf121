/** JSON that no library would write, and bytes that are not JSON. */
import { Buffer } from 'node:buffer'
import * as fc from 'fast-check'
import { type Endpoint, makeBody } from './make-bodies.ts'

/** Changes to the JSON text on its way. */
const DAMAGES: Record<string, (text: string) => string> = {
  none: (text) => text,
  'half of it': (text) => text.slice(0, Math.floor(text.length / 2)),
  'a byte more': (text) => `${text}x`,
  'a byte order mark': (text) => `\u00EF\u00BB\u00BF${text}`,
  'a byte of no UTF-8': (text) => text.replace('"', '"\u00FF'),
  'a NUL byte': (text) => text.replace('{', '{\0'),
  'white space all over': (text) => `\r\n\t ${text.replaceAll(/(?<=^|,)(?=")/g, '\n ')} \n`,
  'every key twice': (text) => text.replace(/^\{(?=")/, `{"event":5,"identity":0,"events":1,`),
  'an own prototype': (text) => text.replace(/^\{(?=")/, '{"__proto__":{"event":"inherited","admin":true},'),
  'numbers beyond all': (text) => text.replace(/:-?\d+([,}])/, ':1e999$1'),
  'a digit less than infinitely many': (text) =>
    text.replace(/:-?\d+([,}])/, `:${'1'.repeat(400)}.${'0'.repeat(400)}$1`),
  'brackets without end': () => '['.repeat(100_000),
  'brackets in thousands': () => `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  'two of them': (text) => text + text,
  'quotes of another kind': (text) => text.replaceAll('"', "'"),
  nothing: () => '',
  'as much as is allowed': (text) => text + ' '.repeat(Math.max(0, 262_144 - text.length)),
  'a byte more than is allowed': (text) => text + ' '.repeat(Math.max(0, 262_145 - text.length)),
}

/** Generates the bytes of a body, one character each. */
export function makeBytes(endpoint: Endpoint, business: string): fc.Arbitrary<string> {
  const damage = fc.oneof(
    { weight: 20, arbitrary: fc.constant('none') },
    { weight: 5, arbitrary: fc.constantFrom(...Object.keys(DAMAGES)) },
  )
  return fc.tuple(makeBody(endpoint, business), damage).map(([body, kind]) => {
    const text = toBytes(JSON.stringify(body) ?? '')
    return DAMAGES[kind]?.(text) ?? text
  })
}

/** Encodes as UTF-8, one character per byte: both a socket and a reader of a counterexample can use it. */
const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
