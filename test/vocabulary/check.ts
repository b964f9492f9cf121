/**
 * `npm run lint`: prints each banned word of the covered files as file:line, and exits with 1 if there is one.
 * Arguments cover other paths.
 */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findBanned, type Word } from './find-banned.ts'

const list = fileURLToPath(new URL('words.json', import.meta.url))
const { covered, words } = JSON.parse(readFileSync(list, 'utf8')) as { covered: string[]; words: Word[] }

const given = process.argv.slice(2)
const patterns = given.length > 0 ? given : covered
const files = patterns.flatMap((pattern) => {
  const matches = globSync(pattern)
  if (matches.length === 0) throw new Error(`no file is at ${pattern}`)
  return matches
})

let count = 0
for (const file of files.toSorted())
  for (const { line, text, write } of findBanned(readFileSync(file, 'utf8'), words)) {
    count += 1
    console.error(`${file}:${line}: "${text}": write ${write}`)
  }
process.exitCode = count === 0 ? 0 : 1
