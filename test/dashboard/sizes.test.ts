/** How much a browser loads of the committed build: for the first page, and for each further page. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

const BUILT = new URL('../../src/dashboard/built/', import.meta.url)

interface Chunk {
  file: string
  src?: string
  imports?: string[]
  css?: string[]
  assets?: string[]
}
const manifest = JSON.parse(readFileSync(new URL('manifest.json', BUILT), 'utf8')) as Record<string, Chunk>

const sizeOf = (file: string): number => gzipSync(readFileSync(new URL(file, BUILT)), { level: 9 }).length
const sum = (files: Iterable<string>): number => [...files].reduce((total, file) => total + sizeOf(file), 0)

/** Everything that is loaded with a chunk. */
function filesOf(key: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[key]
  if (chunk === undefined || found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const file of chunk.css ?? []) found.add(file)
  for (const next of chunk.imports ?? []) filesOf(next, found)
  return found
}

const texts = (section: string) => Object.keys(manifest).filter((key) => key.endsWith(`/${section}.ts`))
const index = readFileSync(new URL('index.html', BUILT), 'utf8')
const shell = new Set(
  [...index.matchAll(/(?:src|href)="\/dashboard\/(assets\/[^"]*\.(?:js|css))"/g)].map(([, file]) => file ?? ''),
)
/** Loaded with the first page that uses it, which is nearly every page. */
const shared = new Set(
  [...filesOf(Object.keys(manifest).find((key) => key.startsWith('_shared-') && key.endsWith('.js')) ?? '')].filter(
    (file) => !shell.has(file),
  ),
)
const pages = Object.keys(manifest).filter((key) => /^src\/features\/.*\/page\.tsx$/.test(key))

it('the shell is small, and in few files', () => {
  const longest = Math.max(...texts('shell').map((key) => sizeOf(manifest[key]?.file ?? '')))
  expect(shell.size).toBe(3)
  expect(sum(['index.html', ...shell]) + longest).toBeLessThan(76_000)
})

it('what pages share beside it is small, and in few files', () => {
  expect(shared.size).toBe(2)
  expect(sum(shared)).toBeLessThan(18_000)
})

it('there are pages', () => {
  expect(pages.length).toBeGreaterThan(3)
})

it.each(pages)('%s is small beside both', (key) => {
  const more = [...filesOf(key)].filter((file) => !shell.has(file) && !shared.has(file))
  expect(sum(more)).toBeLessThan(30_000)
})

it('the editor of the SQL page comes with that page alone, after it', () => {
  const editor = Object.keys(manifest).filter((key) => key.endsWith('/code-editor.tsx'))
  expect(editor).toHaveLength(1)
  for (const key of editor) expect(sum([...filesOf(key)].filter((file) => !shell.has(file)))).toBeLessThan(130_000)
})
