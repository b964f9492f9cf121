import { readFileSync } from 'node:fs'

const GUIDE = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')

/** The table below a heading of docs/events.md, row by row: its first cell, and the names in its second. */
export function readNames(heading: string): [string, string[]][] {
  const [, section = ''] = GUIDE.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  const rows = [...own.matchAll(/^\| (\w+) \| (`.*`) \|$/gm)]
  return rows.map(([, first = '', names = '']) => [
    first,
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  ])
}
