/** docs/operations.md is read during incidents, so none of its blocks may be long. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const MAX_WORDS = 120

/** Returns paragraphs, list items and table rows, without code to be typed. */
const blocksOf = (page: string): string[] =>
  page
    .replaceAll(/^```[^]*?^```$/gm, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)/)
    .map((block) => block.trim())

const wordsIn = (block: string): number => block.split(/\s+/).filter((word) => /\w/.test(word)).length

it('no block of docs/operations.md has more than 120 words', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const blocks = blocksOf(page)
  expect(blocks.length).toBeGreaterThan(200)
  expect(blocks.filter((block) => wordsIn(block) > MAX_WORDS)).toEqual([])
})

it('a long paragraph, item or row would be found', () => {
  const long = 'word '.repeat(MAX_WORDS + 1).trim()
  const page = `Short.\n\n${long}\n\n- Short.\n- ${long}\n\n| a |\n|---|\n| ${long} |\n\n\`\`\`sh\n${long}\n\`\`\`\n`
  expect(blocksOf(page).filter((block) => wordsIn(block) > MAX_WORDS)).toHaveLength(3)
})
