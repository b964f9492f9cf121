import { expect, test } from 'vitest'
import { nearestWord } from '../../src/process/nearest-word.ts'

const WORDS = ['business', 'key', 'user', 'dead-letters', 'deliveries', 'destination', 'demo']

test.each([
  ['key', 'key'],
  ['keys', 'key'],
  ['kye', 'key'],
  ['busines', 'business'],
  ['buisness', 'business'],
  ['delivery', 'deliveries'],

  ['dest', 'destination'],
  ['de', undefined],
  ['', undefined],
  ['x', undefined],
  ['nonsense', undefined],
])('%s is meant as %s', (typed, meant) => {
  expect(nearestWord(typed, WORDS)).toBe(meant)
})
