/** Input as it is at the moment of the call: JSON, which no later change of the caller's objects can reach. */
export type Plain = Record<string, unknown>

const encoder = new TextEncoder()

/** As many bytes as it has in UTF-8. */
export const bytesOf = (text: string): number => encoder.encode(text).byteLength

/** Throws TypeError for a value that is not an object, or that JSON would turn into something else. */
export function toPlain(input: unknown): Plain {
  if (Object(input) !== input) throw new TypeError('It must be an object')
  const { value, occurredAt, traits } = input as Plain
  const time = occurredAt instanceof Date ? occurredAt.getTime() : occurredAt
  // JSON would make null of them, and null says something else: no amount, now, a cleared trait.
  const sent = [...Object.entries(Object(traits) as Plain), ['value', value], ['occurredAt', time]] as const
  for (const [name, number] of sent)
    if (typeof number === 'number' && !Number.isFinite(number)) throw new TypeError(`${name} must be a finite number`)
  return input as Plain
}

/** A caller's own key stays; else the event gets one, so that a second try does not record a second event. */
export const withKey = (plain: Plain): Plain => ({
  ...plain,
  idempotencyKey: plain['idempotencyKey'] ?? crypto.randomUUID(),
})

let last = 0

/**
 * What is live happens now, however late it arrives. Calls of one millisecond follow each other, up to 0.1 s ahead of the clock:
 * of two traits of one time the greater would win, not the later.
 */
export function withTime(plain: Plain): Plain {
  const now = Date.now()
  return { ...plain, occurredAt: plain['occurredAt'] ?? (last = Math.max(now, Math.min(last + 1, now + 100))) }
}
