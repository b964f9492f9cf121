/** docs/segments.md: the service accepts each rule on the page, and its commands print what the page shows. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readRule } from '../../src/rules/segments/reading/read-rule.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'

const page = await readFile(new URL('../../docs/segments.md', import.meta.url), 'utf8')
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp('^```' + language + String.raw`\n(.*?)^` + '```', 'gms'))].map(([, block = '']) => block)

/** A block holds one rule, or one rule on each line. */
const rules = blocksOf('json').flatMap((block) => (/^\{.*\}\n\{/s.test(block) ? block.trim().split('\n') : [block]))

let service: Service
let folder: string
beforeAll(async () => {
  service = await openService()
  folder = await mkdtemp(join(tmpdir(), 'sluice-documentation-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await service.close()
})

it.each(rules)('takes %s', (text) => {
  const rule: unknown = JSON.parse(text)
  const named = '01a207e3-47e7-7416-8cea-3a7088ba4c12'
  const inner = { tag: 'vip', operator: 'has' } as const
  expect(readRule(rule, { fields: new Map([['plan', 'Text']]), segments: new Map([[named, inner]]) })).toEqual({ rule })
})

it('has rules of each kind', () => {
  expect(rules.length).toBeGreaterThan(12)
  for (const word of ['event', 'customField', 'tag', 'attribute', 'segment', 'withinDays', 'where', 'sum', 'any'])
    expect(rules.some((rule) => rule.includes(`"${word}"`))).toBe(true)
})

/** Runtimes print objects with different quotes and line breaks, and ids and times differ each time. */
const compact = (printed: string): string =>
  printed
    .replaceAll(/[\da-f]{8}-(?:[\da-f-]{27}|…)/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]*Z/g, 'TIME')
    .replaceAll(/['"\s]|,(?=\s*[}\]])/g, '')

it('has commands that print what it says', async () => {
  const { secretKey } = await createBusiness(service.sql)
  await mkdir(join(folder, '.sluice'))
  await writeFile(join(folder, '.sluice/demo-keys.json'), JSON.stringify({ secretKey }))
  const scripts = blocksOf('sh').filter((block) => !block.includes('npm run'))
  const commands = scripts.join('').replace(/^BASE=.*$/m, `BASE=${service.url}`)
  // Until a new segment is ready, it has no members.
  const ready = 'until call "$BASE/api/segments/$SEGMENT" | grep -q \'"ready"\'; do sleep 0.1; done'
  const script = commands.replace(/^(call -X POST "\$BASE\/api\/sdk\/track" -d .*)$/m, `${ready}\n$1`)
  expect(script).toContain(ready)
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: folder })
  const printed = compact(stdout)
  expect(printed).toContain('status:ready,progress:1,memberCount:1,')
  const outputs = scripts.flatMap((block) => [...block.matchAll(/^# (.*)$/gm)].map(([, line = '']) => compact(line)))
  expect(outputs).toHaveLength(4)
  for (const output of outputs) expect(printed).toContain(output)
})
