/**
 * Runs all tests, and writes to the file that it is given how many passed and how many failed: `7150 0`.
 *
 * Some tests measure time, and fail on a machine that others keep busy. The files that failed run again, one at a time,
 * and the counts are those of the second run. When many files failed, it was not the machine.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

const MOST_FILES = 20

/** A test file, and how many of its tests passed and failed. */
interface Counted {
  name: string
  passed: number
  failed: number
}

/** The part of vitest's report that is read. */
interface Report {
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[]
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-ci-'))
let files = runTests([])
const again = files.filter(({ failed }) => failed > 0).map(({ name }) => name)
if (again.length > 0 && again.length <= MOST_FILES && again.every((name) => existsSync(name))) {
  console.log(`--- again, one at a time: ${again.join(' ')}`)
  files = [...files.filter(({ name }) => !again.includes(name)), ...runTests(['--no-file-parallelism', ...again])]
}
rmSync(folder, { recursive: true })
const sum = (count: (file: Counted) => number) => files.reduce((total, file) => total + count(file), 0)
writeFileSync(process.argv[2] ?? '', `${sum(({ passed }) => passed)} ${sum(({ failed }) => failed)}\n`)

function runTests(options: string[]): Counted[] {
  const file = join(folder, 'report.json')
  rmSync(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const { status } = spawnSync('npm', ['run', 'test:all', '--', ...reporters, ...options], { stdio: 'inherit' })
  const report = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : { testResults: [] }
  const counted = report.testResults.map(({ name, status: outcome, assertionResults }) => {
    const count = (wanted: string) => assertionResults.filter((test) => test.status === wanted).length
    // A file that cannot be loaded has no failed test.
    const failed = Math.max(count('failed'), outcome === 'failed' ? 1 : 0)
    return { name: relative('', name), passed: count('passed'), failed }
  })
  // A run may fail without a failed file: it crashed, or an error was not handled.
  const isUnexplained = status !== 0 && counted.every(({ failed }) => failed === 0)
  return isUnexplained ? [...counted, { name: 'the run', passed: 0, failed: 1 }] : counted
}
