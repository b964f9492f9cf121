import { expect, test } from 'vitest'
import { isHeldOut } from '../../../src/rules/campaigns/hold-out.ts'
import { shareOf } from '../../../src/rules/campaigns/stable-hash.ts'

const MANY = 20_000
/** Consecutive ids, which differ only at the end. */
const ids = Array.from(
  { length: MANY },
  (_, index) => `0192f0c8-5a3e-7000-8000-${index.toString(16).padStart(12, '0')}`,
)
const CAMPAIGN = '0192f0c8-aaaa-7000-8000-000000000001'

/** Five standard deviations of a share of `MANY`. */
const tolerance = (share: number) => 5 * Math.sqrt((share * (1 - share)) / MANY)
const shareOfIds = (is: (contactId: string) => boolean) => ids.filter(is).length / MANY

test('the shares are these for ever', () => {
  const shares = ['a', 'b', 'ü', ''].map((text) => shareOf('split', text, 'step'))
  expect(shares).toEqual([8920, 3206, 8051, 5851])
})

test.each([0.5, 5, 33.33, 50])('about %d per cent are held out', (holdOut) => {
  const share = shareOfIds((contactId) => isHeldOut({ contactId, campaignId: CAMPAIGN, holdOut }))
  expect(Math.abs(share - holdOut / 100)).toBeLessThan(tolerance(holdOut / 100))
})

test('nobody is held out at 0 per cent, and who is at 5 is so at 10', () => {
  const held = (holdOut: number) => ids.filter((contactId) => isHeldOut({ contactId, campaignId: CAMPAIGN, holdOut }))
  expect(held(0)).toEqual([])
  const more = new Set(held(10))
  expect(held(5).every((id) => more.has(id))).toBe(true)
})

test('the shares of several steps and campaigns are independent of each other', () => {
  const isLow = (...texts: string[]) => shareOf(...texts) < 5000
  const pairs: [string[], string[]][] = [
    [
      ['split', 'a'],
      ['split', 'b'],
    ],
    [
      ['split', 'step-1'],
      ['split', 'step-2'],
    ],
    [
      ['hold-out', CAMPAIGN],
      ['split', 'a'],
    ],
    [
      ['hold-out', CAMPAIGN],
      ['hold-out', CAMPAIGN.replace(/1$/, '2')],
    ],
  ]
  for (const [[kind = '', one = ''], [other = '', two = '']] of pairs) {
    const both = shareOfIds((id) => isLow(kind, id, one) && isLow(other, id, two))
    expect(Math.abs(both - 0.25)).toBeLessThan(tolerance(0.25))
  }
})

test('where one text ends counts', () => {
  expect(shareOf('ab', 'c')).not.toBe(shareOf('a', 'bc'))
})
