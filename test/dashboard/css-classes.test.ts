/** A class that a component names and its style sheet lacks goes unnoticed: the element is only without its looks. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SOURCES = fileURLToPath(new URL('../../src/dashboard/src', import.meta.url))
const IMPORT = /import (\w+) from '([^']+\.module\.css)'/g

const classesIn = (css: string): Set<string> =>
  new Set([...css.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => name ?? ''))

it('every class that a component names is in its style sheet', () => {
  let named = 0
  const missing: string[] = []
  for (const file of globSync('**/*.tsx', { cwd: SOURCES })) {
    const source = readFileSync(join(SOURCES, file), 'utf8')
    for (const [, variable = '', sheet = ''] of source.matchAll(IMPORT)) {
      const defined = classesIn(readFileSync(join(SOURCES, dirname(file), sheet), 'utf8'))
      for (const [, name = ''] of source.matchAll(new RegExp(String.raw`\b${variable}\['([\w-]+)'\]`, 'g'))) {
        named += 1
        if (!defined.has(name)) missing.push(`${file}: ${name}`)
      }
    }
  }
  expect(missing).toEqual([])
  expect(named).toBeGreaterThan(300)
})
