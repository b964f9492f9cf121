/**
 * Runs all tests, and writes to the file that it is given how many passed and how many failed: `7150 0`.
 *
 * Some tests measure time, and fail on a machine that others keep busy. The files that failed run once more, one at a time,
 * and the counts are those of the second run. When many files failed, it was not the machine.
 */
const { spawnSync } = require('node:child_process')
const { mkdtempSync, existsSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join, relative } = require('node:path')

const MOST_FILES = 20

const folder = mkdtempSync(join(tmpdir(), 'sluice-ci-'))
let files = runTests([])
const again = files.filter(({ failed }) => failed > 0).map(({ name }) => name)
if (again.length > 0 && again.length <= MOST_FILES && again.every((name) => existsSync(name))) {
  console.log(`--- once more, one at a time: ${again.join(' ')}`)
  files = [...files.filter(({ name }) => !again.includes(name)), ...runTests(['--no-file-parallelism', ...again])]
}
rmSync(folder, { recursive: true })
const sum = (count) => files.reduce((total, file) => total + count(file), 0)
writeFileSync(process.argv[2], `${sum(({ passed }) => passed)} ${sum(({ failed }) => failed)}\n`)

/** The name of each file, how many of its tests passed, and how many failed. */
function runTests(options) {
  const file = join(folder, 'report.json')
  rmSync(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const { status } = spawnSync('npm', ['run', 'test:all', '--', ...reporters, ...options], { stdio: 'inherit' })
  const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : []
  const counted = results.map(({ name, status: fate, assertionResults }) => {
    const count = (wanted) => assertionResults.filter((test) => test.status === wanted).length
    // A file that cannot be loaded has no failed test.
    return {
      name: relative('', name),
      passed: count('passed'),
      failed: Math.max(count('failed'), fate === 'failed' ? 1 : 0),
    }
  })
  // A run may fail without a failed file: it crashed, or an error was not handled.
  const isUnexplained = status !== 0 && counted.every(({ failed }) => failed === 0)
  return isUnexplained ? [...counted, { name: 'the run', passed: 0, failed: 1 }] : counted
}
