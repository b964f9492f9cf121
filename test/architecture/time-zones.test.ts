/**
 * Local times follow the rules that come with the product (src/rules/time), on every runtime and beside any database. No
 * other code asks a runtime or a store for the rules of a zone. The dashboard runs in browsers, which have no others.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const FILES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'workers', 'sql'], { cwd: ROOT })
  .toString()
  .split('\n')
  .filter((file) => /\.(ts|sql)$/.test(file) && !/^src\/(dashboard|sdk)\//.test(file))

/** What converts between instants and local times: of Temporal, of Intl and Date, of Postgres, and of ClickHouse. */
const CONVERTS = [
  /toZonedDateTime|ZonedDateTime\.from|getTimeZoneTransition|startOfDay\(\)/,
  /Intl\.DateTimeFormat\((?![^)]*timeZone: 'UTC')|toLocale(?:Date|Time)String|getTimezoneOffset/,
  /\bat time zone (?!'utc')|\btimezone\('|date_trunc\('(?!hour)[^)]*\b(?:zone|timezone)\b/i,
  /\btoTime[zZ]one\(|\btoStartOf(?:Hour|Day|Week|Month)\(|\btimeZoneOffset|\bdateTrunc\(/,
]

const read = (file: string) =>
  readFileSync(new URL(file, ROOT), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?:\/\/|-- ).*/g, '')

it('no code converts local times by other rules', () => {
  expect(FILES.length).toBeGreaterThan(500)
  const found = FILES.filter((file) => CONVERTS.some((one) => one.test(read(file))))
  expect(found).toEqual([])
})

it('such code would be found', () => {
  for (const code of [
    'instant.toZonedDateTimeISO(zone)',
    "new Intl.DateTimeFormat('en', { timeZone: zone })",
    'select happened_at at time zone b.timezone',
    'select toStartOfDay(occurred_at, {zone: String})',
  ])
    expect(CONVERTS.filter((one) => one.test(code))).toHaveLength(1)
  const inUtc = "new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' })"
  expect(CONVERTS.filter((one) => one.test(inUtc))).toEqual([])
})
