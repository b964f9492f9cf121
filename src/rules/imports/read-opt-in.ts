/** Opt-ins in the words of shops and mailing tools. */

/** `none`: the person has made no choice yet, or has not confirmed it. */
const WORDS = {
  yes: ['yes', 'true', '1', 'subscribed', 'opted in', 'opt in', 'accepts marketing', 'explicit'],
  no: ['no', 'false', '0', 'unsubscribed', 'opted out', 'opt out', 'cleaned', 'bounced', 'suppressed'],
  none: [
    'never subscribed',
    'not subscribed',
    'non subscribed',
    'pending',
    'unconfirmed',
    'none',
    'unknown',
    'not set',
    'not specified',
  ],
} as const
export type OptInAnswer = keyof typeof WORDS

const ANSWERS = new Map(
  (['yes', 'no', 'none'] as const).flatMap((answer) =>
    WORDS[answer].map((word): [string, OptInAnswer] => [word, answer]),
  ),
)

/** Reads a word in any letter case, with spaces, `_` or `-` between its parts. Undefined for any other text. */
export const readOptIn = (text: string): OptInAnswer | undefined =>
  ANSWERS.get(
    text
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ' '),
  )

/** All words, for a message. */
export const OPT_IN_WORDS: Record<OptInAnswer, string> = {
  yes: WORDS.yes.join(', '),
  no: WORDS.no.join(', '),
  none: WORDS.none.join(', '),
}
