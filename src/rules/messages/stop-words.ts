/** Words with which people stop messages to their phone, and start them again. */

const STOP = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'])
const START = new Set(['START', 'UNSTOP'])
/** The button that WhatsApp adds to marketing templates. */
const STOP_BUTTON = 'STOP PROMOTIONS'

export type StopWord = 'stop' | 'start'

/**
 * Reads the whole body of a message, ignoring case, and punctuation and white space around it. Returns null when it is
 * neither word.
 */
export function readStopWord(body: string): StopWord | null {
  const word = bare(body)
  if (STOP.has(word)) return 'stop'
  return START.has(word) ? 'start' : null
}

/** Reads the text of a button. */
export const readStopButton = (text: string): StopWord | null =>
  bare(text).replaceAll(/\s+/g, ' ') === STOP_BUTTON ? 'stop' : readStopWord(text)

/** A longer text is not a word, whatever is around it. */
const MAX_BODY = 500

const bare = (text: string): string =>
  text.length > MAX_BODY ? '' : text.replaceAll(/^[\s\p{P}\p{S}\p{Cf}]+|[\s\p{P}\p{S}\p{Cf}]+$/gu, '').toUpperCase()
