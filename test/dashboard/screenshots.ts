/** `bun test/dashboard/screenshots.ts [FOLDER]`: takes a screenshot of every page, light and dark, narrow and wide. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const [given] = process.argv.slice(2)
const folder = given === undefined ? mkdtempSync(join(tmpdir(), 'sluice-pages-')) : resolve(given)
mkdirSync(folder, { recursive: true })
const vitest = ['--no-install', 'bun', '--bun', 'vitest', 'run', 'test/dashboard/pages']
try {
  execFileSync('npx', vitest, { stdio: 'inherit', env: { ...process.env, SCREENSHOTS: folder } })
} finally {
  console.log(`Pictures are in ${folder}`)
}
