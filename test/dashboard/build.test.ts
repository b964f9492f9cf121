// @long
/** The committed build is that of the sources. If it is not: npm run build:dashboard */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_TYPES, build, BUILT, checkTypes, install, writeApiTypes } from '../../src/dashboard/build.ts'

const DASHBOARD = fileURLToPath(new URL('../../src/dashboard/', import.meta.url))

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()

describe('the pages in the repository', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-dashboard-'))
  beforeAll(install)
  afterAll(() => rmSync(folder, { recursive: true }))

  it('have sound types', () => {
    expect(checkTypes).not.toThrow()
  })

  it('have the types of the API that its routes describe', () => {
    const file = join(folder, 'api.d.ts')
    writeApiTypes(file)
    expect(readFileSync(API_TYPES, 'utf8')).toBe(readFileSync(file, 'utf8'))
  })

  it('are what their sources build, to the byte', () => {
    const again = join(folder, 'built')
    build(again)
    const files = filesIn(again)
    expect(filesIn(BUILT)).toEqual(files)
    const differing = files.filter((file) => !readFileSync(join(again, file)).equals(readFileSync(join(BUILT, file))))
    expect(differing).toEqual([])
  })
})

it('the lock file names no download address', () => {
  expect(readFileSync(join(DASHBOARD, 'package-lock.json'), 'utf8')).not.toMatch(
    /"resolved"|https?:\/\/(?!opencollective|github|tidelift|www\.)/,
  )
})
