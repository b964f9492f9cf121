/** Words with which people stop messages to their phone, and start them again. */

const STOP = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'])
const START = new Set(['START', 'UNSTOP'])

export type StopWord = 'stop' | 'start'

/** Reads the whole body of a message, ignoring case. Returns null when it is neither word. */
export function readStopWord(body: string): StopWord | null {
  const word = body.trim().toUpperCase()
  if (STOP.has(word)) return 'stop'
  return START.has(word) ? 'start' : null
}
