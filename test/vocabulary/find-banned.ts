/** Finds the words that must not be used. words.json lists them, with the words to write instead. */
export interface Word {
  pattern: string
  write: string
}

export interface Found {
  line: number
  text: string
  write: string
}

/**
 * A phrase may continue on the next line, after the star or the slashes of a comment. A word within a path or a name
 * does not count.
 */
function patternOf({ pattern }: Word): RegExp {
  const spaced = pattern.replaceAll(' ', String.raw`(?:\s+(?:\*|//|--|#)?\s*)`)
  return new RegExp(String.raw`(?<![\w/-])${spaced}(?![\w-]|\.\w)`, 'gi')
}

const lineOf = (source: string, index: number): number => source.slice(0, index).split('\n').length

export function findBanned(source: string, words: Word[]): Found[] {
  const found = words.flatMap((word) =>
    [...source.matchAll(patternOf(word))].map(({ 0: text, index }) => ({
      line: lineOf(source, index),
      text: text.replaceAll(/\s+/g, ' '),
      write: word.write,
    })),
  )
  return found.toSorted((a, b) => a.line - b.line)
}
