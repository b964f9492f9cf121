/**
 * How many messages an SMS is charged as. A text whose characters are all in the GSM alphabet (3GPP TS 23.038) has 160 of
 * them in one message; any other character, such as an emoji, makes it UCS-2 with 70. Of several messages, each gives some of
 * its room to a header that joins them.
 */

export interface SmsSize {
  encoding: 'GSM-7' | 'UCS-2'
  /** Of the alphabet: some in GSM-7 count twice, as do most emoji in UCS-2. */
  characters: number
  segments: number
}

const GSM = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Written as two. */
const GSM_EXTENSION = new Set('\f^{}\\[~]|€')

const ROOM = { 'GSM-7': { one: 160, ofMany: 153 }, 'UCS-2': { one: 70, ofMany: 67 } }

export function smsSize(text: string): SmsSize {
  const points = Array.from(text)
  const isGsm = points.every((point) => GSM.has(point) || GSM_EXTENSION.has(point))
  const encoding = isGsm ? 'GSM-7' : 'UCS-2'
  const sizes = points.map((point) => (isGsm ? (GSM_EXTENSION.has(point) ? 2 : 1) : point.length))
  const characters = sizes.reduce((sum, size) => sum + size, 0)
  const { one, ofMany } = ROOM[encoding]
  return { encoding, characters, segments: characters <= one ? Math.min(1, characters) : pack(sizes, ofMany) }
}

/** A character of two units is in one message, and not half in the next one. */
function pack(sizes: readonly number[], room: number): number {
  let [segments, used] = [1, 0]
  for (const size of sizes) {
    if (used + size > room) {
      segments += 1
      used = 0
    }
    used += size
  }
  return segments
}
