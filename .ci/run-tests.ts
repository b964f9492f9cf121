/**
 * Runs all tests, and writes to the file that it is given how many passed, how many failed and how many files were
 * flaky, and then the flaky files: `7150 0 1`.
 *
 * Some tests measure time, and fail on a machine that others keep busy. The files that failed run again, one at a time,
 * and the counts are those of the second run. Files that fail and then pass are flaky. When many
 * files failed, it was not the machine.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** The faults keep the machine busy by themselves, so nothing runs beside them. */
const SCRIPTS = ['test:all', 'test:faults']
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
const runs = SCRIPTS.map(runTwice)
rmSync(folder, { recursive: true })
const files = runs.flatMap((run) => run.files)
const flaky = runs.flatMap((run) => run.flaky)
const sum = (count: (file: Counted) => number) => files.reduce((total, file) => total + count(file), 0)
writeFileSync(
  process.argv[2] ?? '',
  `${sum(({ passed }) => passed)} ${sum(({ failed }) => failed)} ${flaky.length}\n${flaky.map((name) => `flaky: ${name}\n`).join('')}`,
)

/** Runs a script, and then the files that failed again. Returns the last counts of each file, and the flaky ones. */
function runTwice(script: string): { files: Counted[]; flaky: string[] } {
  const first = runTests(script, [])
  const failed = first.filter((file) => file.failed > 0).map(({ name }) => name)
  if (failed.length === 0 || failed.length > MOST_FILES || !failed.every((name) => existsSync(name)))
    return { files: first, flaky: [] }
  console.log(`--- again, one at a time: ${failed.join(' ')}`)
  const second = runTests(script, ['--no-file-parallelism', ...failed])
  const recovered = second.filter((file) => file.failed === 0 && failed.includes(file.name))
  return {
    files: [...first.filter(({ name }) => !failed.includes(name)), ...second],
    flaky: recovered.map(({ name }) => name),
  }
}

function runTests(script: string, options: string[]): Counted[] {
  const file = join(folder, 'report.json')
  rmSync(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const { status } = spawnSync('npm', ['run', script, '--', ...reporters, ...options], { stdio: 'inherit' })
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
