/** The dates that the date filters of templates read, and the time zones that they show them in. */
import { knownZone } from '../campaigns/local-time.ts'
import { readIso } from '../events/read-iso.ts'
import { offsetAt } from '../time/zones.ts'

/** As databases write it: a space before the time, and one before the offset. */
const SPACED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d[\d:.,]*) ?(.*)$/
/** As mails write it (RFC 5322), and as people do in English: `1 Dec 2026 09:00 +0200`, `December 1, 2026`. */
const IN_WORDS =
  /^(?:[a-z]{3,9},? )?(?:(\d{1,2}) ([a-z]{3,9})|([a-z]{3,9}) (\d{1,2}),?) (\d{4})(?: (\d\d:\d\d(?::\d\d)?)(?: ?(z|gmt|utc|[+-]\d\d:?\d\d))?)?$/i
const MONTHS = 'january february march april may june july august september october november december'.split(' ')

/** A day from the ends of what a date can be, so that it has a local time in each zone. */
const MAX_AT = 8.64e15 - 86_400_000
const MINUTES_OF_DAY = 1440

/**
 * Reads what a template gives to a date filter as epoch milliseconds: seconds since 1970, or a text. Without an offset
 * the time is UTC, whatever the machine's zone is. Undefined for everything else.
 */
export function readDate(value: unknown): number | undefined {
  const at = typeof value === 'number' ? value * 1000 : typeof value === 'string' ? readText(value.trim()) : undefined
  return at !== undefined && Math.abs(at) <= MAX_AT ? at : undefined
}

function readText(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000
  return readIso(text) ?? readIso(text.replace(SPACED, '$1T$2$3')) ?? readWords(text)
}

function readWords(text: string): number | undefined {
  const parts = IN_WORDS.exec(text.replaceAll(/\s+/g, ' '))
  if (parts === null) return undefined
  const [, day = parts[4] ?? '', name = parts[3] ?? '', , , year = '', time = '00:00', zone = 'Z'] = parts
  const month = MONTHS.findIndex((one) => one.startsWith(name.toLowerCase())) + 1
  if (month === 0) return undefined
  const offset = /^[a-z]/i.test(zone) ? 'Z' : zone
  return readIso(`${year}-${twoDigits(month)}-${twoDigits(Number(day))}T${time}${offset}`)
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

/**
 * Reads the second argument of a date filter: the name of a zone, an offset such as `+02:00`, or minutes west of UTC. An
 * empty one and one that does not exist are UTC.
 */
export function readZone(zone: unknown, at: number): { zone: string; offset: number } {
  if (typeof zone === 'number') return { zone: '', offset: Math.abs(zone) <= MINUTES_OF_DAY ? -Math.trunc(zone) : 0 }
  if (typeof zone !== 'string' || zone === '') return { zone: '', offset: 0 }
  const [, sign = '', hours = '', minutes = ''] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? []
  if (sign !== '') {
    const size = Number(hours) * 60 + Number(minutes)
    return { zone: '', offset: size > MINUTES_OF_DAY ? 0 : sign === '-' ? -size : size }
  }
  const known = knownZone(zone)
  return { zone: known, offset: Math.round(offsetAt(known, at) / 60_000) }
}
