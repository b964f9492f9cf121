/**
 * Runs the calls about one person one after the other. Calls that share an identity value are about one person. So are
 * calls that a third one connects (one by email, one by phone, one by both), as long as the third one is waiting.
 */

/** Starts `work`, which must not reject, after all earlier work that has one of the keys. */
export type RunInOrder = <Result>(keys: readonly string[], work: () => Promise<Result>) => Promise<Result>

interface Chain {
  /** Settles with the chain's last call. */
  tail: Promise<unknown>
  keys: Set<string>
}

export function createOrder(): RunInOrder {
  const chains = new Map<string, Chain>()
  const waiting = new Map<string, number>()

  const leave = (key: string): void => {
    const left = waiting.get(key)! - 1
    waiting.set(key, left)
    if (left > 0) return
    waiting.delete(key)
    chains.get(key)!.keys.delete(key)
    chains.delete(key)
  }

  return (keys, work) => {
    const found = [...new Set(keys.flatMap((key) => chains.get(key) ?? []))]
    const [chain = { keys: new Set<string>() } as Chain, ...others] = found
    const done = Promise.all(found.map(({ tail }) => tail)).then(work)
    chain.tail = done
    for (const key of [...keys, ...others.flatMap((other) => [...other.keys])]) {
      chain.keys.add(key)
      chains.set(key, chain)
    }
    for (const key of keys) waiting.set(key, (waiting.get(key) ?? 0) + 1)
    void done.then(() => keys.forEach(leave))
    return done
  }
}

/** Placeholders for unknown people, as the service knows them. All calls with one would wait for each other. */
const NOBODY =
  /^["'\s]*(null|undefined|none|n\/a|nan|anonymous|guest|unknown|true|false|\[object object\]|0|-1|id|user_?id|email|distinct_?id|not_authenticated|unauthenticated|)["'\s]*$/i
/**
 * Number of last digits that are compared. A number with or without its country code, or the zero before its area code,
 * ends with the same digits. The shortest numbers have 4 digits.
 */
const PHONE_DIGITS = 4
/**
 * The service's limit for a phone. Longer text is refused, and the pattern below takes time proportional to the square
 * of the length.
 */
const MAX_PHONE = 64
/** Matches from the beginning of an extension to the end. */
const EXTENSION = /[\p{L}#＃,;~～]\P{L}*$/u

/** Returns the keys that identify a person in calls. They may be coarser than the service's rules, but never finer. */
export function keysOf({ identity }: Record<string, unknown>): string[] {
  const { email, phone, platformCustomerId } = Object(identity) as Record<string, string | number | null>
  const texts = [textOf(email).toLowerCase(), textOf(platformCustomerId), ...endsOf(textOf(phone).slice(0, MAX_PHONE))]
  return texts.flatMap((text, kind) => (NOBODY.test(text) ? [] : `${kind > 1 ? 2 : kind}:${text}`))
}

/** Without invisible characters, which the service takes out of emails and phones. */
const textOf = (value: string | number | null = ''): string =>
  String(value)
    .replace(/\p{Cf}/gu, '')
    .trim()

/**
 * Returns the last digits of a phone with and without its extension, because only the service decides which is right.
 * In ASCII, for any script.
 */
const endsOf = (phone: string): string[] =>
  [phone, phone.replace(EXTENSION, '')].map((text) =>
    text
      .replace(/\P{Nd}/gu, '')
      .slice(-PHONE_DIGITS)
      // The last four bits of a digit that the service accepts are its value.
      .replace(/./g, (digit) => `${digit.charCodeAt(0) & 15}`),
  )
