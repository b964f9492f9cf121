/** Copies the input as JSON at the time of the call, so that later changes to the caller's objects have no effect. */
export type Plain = Record<string, unknown>

const encoder = new TextEncoder()

/** Returns the length in bytes of UTF-8. */
export const bytesOf = (text: string): number => encoder.encode(text).byteLength

/** Throws TypeError for a value that is not an object, or that JSON would change. */
export function toPlain(input: unknown): Plain {
  if (Object(input) !== input) throw new TypeError('It must be an object')
  const { value, occurredAt, traits } = input as Plain
  const time = occurredAt instanceof Date ? occurredAt.getTime() : occurredAt
  // JSON would convert these to null, which has its own meaning: no amount, now, a cleared trait.
  const sent = [...Object.entries(Object(traits) as Plain), ['value', value], ['occurredAt', time]] as const
  for (const [name, number] of sent)
    if (typeof number === 'number' && !Number.isFinite(number)) throw new TypeError(`${name} must be a finite number`)
  return input as Plain
}

/** Keeps the caller's key, or adds one, so that a second attempt does not record a second event. */
export const withKey = (plain: Plain): Plain => ({
  ...plain,
  idempotencyKey: plain['idempotencyKey'] ?? crypto.randomUUID(),
})

let last = 0

/**
 * Sets the time of a live event to now, so that late delivery does not change it. Calls within one millisecond get
 * increasing times, up to 0.1 s ahead of the clock, because the greater of two traits with the same time would win, not
 * the later one.
 */
export function withTime(plain: Plain): Plain {
  const now = Date.now()
  return { ...plain, occurredAt: plain['occurredAt'] ?? (last = Math.max(now, Math.min(last + 1, now + 100))) }
}
