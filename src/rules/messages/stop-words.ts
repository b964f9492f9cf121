/** Words with which people stop messages to their phone, and start them again. */

const STOP = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'])
const START = new Set(['START', 'UNSTOP'])
/**
 * Buttons, of which the last is the one that WhatsApp adds to marketing templates. Fewer than words: with "Cancel" or
 * "End" a person answers a question.
 */
const STOP_BUTTONS = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'OPTOUT', 'STOP PROMOTIONS'])

export type StopWord = 'stop' | 'start'

/**
 * Reads the whole body of a message, ignoring case, and punctuation, emoji and white space around it. Returns null when it is
 * neither word.
 */
export function readStopWord(body: string): StopWord | null {
  const word = bare(body)
  if (STOP.has(word)) return 'stop'
  return START.has(word) ? 'start' : null
}

/** Returns whether the text or payload of a button stops messages. No button starts them again: "Start" begins a chat. */
export const isStopButton = (text: string): boolean => STOP_BUTTONS.has(bare(text).replaceAll(/\s+/g, ' '))

/** A longer text is not a word, whatever is around it. */
const MAX_BODY = 500

/** `\p{M}`: parts of emoji, such as a variation selector or a keycap. */
const AROUND = /^[\s\p{P}\p{S}\p{Cf}\p{M}]+|[\s\p{P}\p{S}\p{Cf}\p{M}]+$/gu

const bare = (text: string): string => (text.length > MAX_BODY ? '' : text.replaceAll(AROUND, '').toUpperCase())
