/** How much a browser loads, by what is committed: the first page, and each page more. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

const BUILT = new URL('../../src/dashboard/built/', import.meta.url)

interface Chunk {
  file: string
  src?: string
  isEntry?: boolean
  imports?: string[]
  css?: string[]
  assets?: string[]
}
const manifest = JSON.parse(readFileSync(new URL('manifest.json', BUILT), 'utf8')) as Record<string, Chunk>

const sizeOf = (file: string): number => gzipSync(readFileSync(new URL(file, BUILT)), { level: 9 }).length
const sum = (files: Iterable<string>): number => [...files].reduce((total, file) => total + sizeOf(file), 0)

/** All that comes with a chunk. */
function filesOf(key: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[key]
  if (chunk === undefined || found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const file of chunk.css ?? []) found.add(file)
  for (const next of chunk.imports ?? []) filesOf(next, found)
  return found
}

const texts = (section: string) => Object.keys(manifest).filter((key) => key.endsWith(`/${section}.ts`))
const shell = filesOf('index.html')
const pages = Object.keys(manifest).filter((key) => /^src\/pages\/.*\/page\.tsx$/.test(key))

it('the shell is small', () => {
  const longest = Math.max(...texts('shell').map((key) => sizeOf(manifest[key]?.file ?? '')))
  expect(sum(['index.html', ...shell]) + longest).toBeLessThan(85_000)
})

it('there are pages', () => {
  expect(pages.length).toBeGreaterThan(3)
})

it.each(pages)('%s is small beside the shell', (key) => {
  const more = [...filesOf(key)].filter((file) => !shell.has(file))
  expect(sum(more)).toBeLessThan(30_000)
})
