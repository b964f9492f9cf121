/**
 * The time zones of the IANA database, as `moment-timezone` packs them: a zone's changes up to the end of 2499, from the
 * repeating rules of each place. Only the data of that package is used. It comes with the product, so that all
 * processes follow the same rules on every runtime and beside any database.
 */
import data from 'moment-timezone/data/packed/latest.json' with { type: 'json' }

/** Release of the IANA database, such as `2026f`. */
export const TIME_ZONES_VERSION = data.version

/** From `starts[n]` (epoch ms) on, local time is `offsets[n]` ms ahead of UTC. The first start is the beginning of time. */
export interface Zone {
  starts: Float64Array
  offsets: Float64Array
}

const MINUTE_MS = 60_000

/** The spelling and the packed rules of each name, by the name in lower case. A link has the rules of its target. */
const NAMES = new Map<string, { name: string; packed: string }>()
for (const packed of data.zones) addName(packed.slice(0, packed.indexOf('|')), packed)
for (const link of data.links) {
  const [target = '', name = ''] = link.split('|')
  addName(name, NAMES.get(target.toLowerCase())?.packed ?? '')
}

function addName(name: string, packed: string): void {
  NAMES.set(name.toLowerCase(), { name, packed })
}

/** Returns a zone's name as IANA spells it, whatever the case of its letters; undefined when there is no such zone. */
export const zoneNamed = (name: string): string | undefined => NAMES.get(name.toLowerCase())?.name

const unpacked = new Map<string, Zone>()

/** @throws RangeError when there is no such zone */
export function zoneOf(name: string): Zone {
  const known = unpacked.get(name)
  if (known !== undefined) return known
  const named = NAMES.get(name.toLowerCase())
  if (named === undefined) throw new RangeError(`there is no time zone "${name}"`)
  const zone = (named.name === name ? undefined : unpacked.get(named.name)) ?? unpack(named.packed)
  // Only spellings that exist once are kept: others could be any number.
  unpacked.set(named.name, zone)
  return zone
}

/** `name|abbreviations|offsets|which offset follows which|minutes between changes|population` */
function unpack(packed: string): Zone {
  const [, , offsets = '', order = '', changes = ''] = packed.split('|')
  // West of Greenwich they are positive.
  const ahead = offsets.split(' ').map((text) => Math.round(0 - readBase60(text) * MINUTE_MS))
  const starts = [-Infinity]
  let at = 0
  for (const text of changes === '' ? [] : changes.split(' ')) {
    at = Math.round(at + readBase60(text) * MINUTE_MS)
    starts.push(at)
  }
  return {
    starts: Float64Array.from(starts),
    offsets: Float64Array.from(order, (digit) => ahead[digitOf(digit)] ?? 0),
  }
}

/** Digits are 0 to 9, a to z and A to X. After the point stand sixtieths. */
function readBase60(text: string): number {
  const [whole = '', sixtieths = '0'] = text.replace('-', '').split('.')
  let number = 0
  for (const digit of whole) number = number * 60 + digitOf(digit)
  return (text.startsWith('-') ? -1 : 1) * (number + digitOf(sixtieths) / 60)
}

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX'
const digitOf = (digit: string): number => DIGITS.indexOf(digit)
