import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const FOLDER = new URL('../../src/rules/', import.meta.url)
const IMPORT = /\bfrom\s+'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g

const RULES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

/**
 * The rules do not read the clock, use random values or do I/O: everything they need is an argument (design, "The
 * house").
 */
describe.each(RULES)('rules/%s', (name) => {
  // A hash follows from its input alone.
  const source = readFileSync(new URL(name, FOLDER), 'utf8').replace("import { createHash } from 'node:crypto'\n", '')

  test('imports nothing outside the rules but the libraries of schemas, numbers, dates and time zones', () => {
    const imports = [...source.matchAll(IMPORT)].map(([, from, bare]) => from ?? bare ?? '')
    const allowed =
      /^(@sinclair\/typebox|libphonenumber-js\/max|moment-timezone\/data\/packed\/latest\.json|temporal-polyfill)$/
    const isRule = (path: string) => new URL(path, new URL(name, FOLDER)).href.startsWith(FOLDER.href)
    expect(imports.filter((path) => !(path.startsWith('.') ? isRule(path) : allowed.test(path)))).toEqual([])
  })

  test('asks for no time and no randomness, and touches no process', () => {
    const code = source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    expect(code).not.toMatch(
      /\bDate\.now|\bnew Date\(\)|\bTemporal\.Now|\bMath\.random|\bcrypto\b|\bprocess\b|\bfetch\(/,
    )
  })
})
