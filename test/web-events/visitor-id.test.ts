/** A visitor id has one form wherever it is made, accepted or erased: in three packages that share no code. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { browserVisitorId } from '../../src/front-door/routes/browser/track-schema.ts'
import { randomId } from '../../src/sdk/browser/random-id.ts'
import { newVisitor } from './web-lab.ts'

const form = browserVisitorId.pattern!
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('the script makes ids that the front door takes', () => {
  for (const id of [randomId(), newVisitor()]) expect(id).toMatch(new RegExp(form))
})

test.each([
  ['the script knows its own by it', 'src/sdk/browser/know-visitor.ts', `/${form}/`],
  ['an erasure knows browsers by it', 'sql/postgres/functions/erase_web_events.sql', `~ '${form}'`],
])('%s', (_what, path, written) => {
  expect(read(path)).toContain(written)
})
