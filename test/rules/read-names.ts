import { readFileSync } from 'node:fs'

const GUIDE = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')

/** Reads the table below a heading of docs/events.md. Each row has its first cell, and the names in its second cell. */
export function readNames(heading: string): [string, string[]][] {
  const [, section = ''] = GUIDE.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  const rows = [...own.matchAll(/^\| (\w+) \| (`.*`) \|$/gm)]
  return rows.map(([, first = '', names = '']) => [
    first,
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  ])
}
