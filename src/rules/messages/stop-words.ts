/** Words by which people end messages to their phone, and begin them again. */

const STOP = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'])
const START = new Set(['START', 'UNSTOP'])

export type StopWord = 'stop' | 'start'

/** Of the whole body of a message, in any case. Null: it is neither, so it ends and begins nothing. */
export function readStopWord(body: string): StopWord | null {
  const word = body.trim().toUpperCase()
  if (STOP.has(word)) return 'stop'
  return START.has(word) ? 'start' : null
}
