/** The words for opt-ins in exports of other tools. */
import { expect, it } from 'vitest'
import { OPT_IN_WORDS, readOptIn } from '../../../src/rules/imports/read-opt-in.ts'

it.each([
  ['yes', ['yes', 'TRUE', '1', 'Subscribed', 'Opted in', 'opt-in', 'OPT_IN', 'Accepts Marketing', 'explicit', ' yes ']],
  ['no', ['No', 'false', '0', 'UNSUBSCRIBED', 'opted_out', 'Opt-Out', 'cleaned', 'Bounced', 'suppressed']],
  [
    'none',
    'Never Subscribed|NEVER_SUBSCRIBED|not_subscribed|Non-Subscribed|pending|UNCONFIRMED|none|unknown|Not set|NOT_SPECIFIED'.split(
      '|',
    ),
  ],
])('is %s: %j', (answer, words) => {
  for (const word of words) expect([word, readOptIn(word)]).toEqual([word, answer])
})

it('leaves other texts unread', () => {
  for (const text of ['', 'active', 'subscribe', 'optin yes', '2', 'toString', '2025-01-02', 'ja'])
    expect(readOptIn(text)).toBeUndefined()
})

it('reads each word that a message names', () => {
  for (const [answer, words] of Object.entries(OPT_IN_WORDS))
    for (const word of words.split(', ')) expect(readOptIn(word)).toBe(answer)
})
