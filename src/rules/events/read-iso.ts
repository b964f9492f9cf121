import { Temporal } from 'temporal-polyfill'

/**
 * The extended form of ISO 8601, which is what RFC 3339, `toISOString` and every common library write: a calendar date, or
 * a date and a time with `T` between them, down to minutes at least, with or without an offset.
 */
const EXTENDED = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** The basic form, without the separators. It needs a time: a date alone could be any number. */
const BASIC = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)((?:\d\d(?:[.,]\d+)?)?)((?:Z|[+-]\d\d(?:\d\d)?)?)$/i

/**
 * Reads an ISO 8601 date or date-time as epoch milliseconds; undefined when it is not one, or not a real instant
 * (30 February, 24:00, an offset of a day or more).
 *
 * No offset is UTC, a date alone is midnight UTC (decisions, "Time"). Digits beyond the millisecond are cut off. A leap second
 * (`:60`) is read as the second before it. It is accepted only at the end of a UTC day, on any day: future leap seconds are
 * not known yet.
 */
export function readIso(text: string): number | undefined {
  const parts = EXTENDED.exec(extend(text))
  if (parts === null) return undefined
  const [, date = '', minutes = '00:00', seconds = '00', fraction = '0', offset = 'Z'] = parts
  try {
    const instant = Temporal.Instant.from(`${date}T${minutes}:${seconds}.${fraction.slice(0, 3)}${offset}`)
    const isPossible = seconds !== '60' || instant.toString().includes('T23:59:59')
    return isPossible ? instant.epochMilliseconds : undefined
  } catch {
    // The format is right, so the date or time does not exist.
    return undefined
  }
}

/** The extended form of a text in the basic form; any other text as it is. */
const extend = (text: string): string =>
  text.replace(BASIC, (_, year: string, month, day, hour, minute, second: string, offset: string) => {
    const time = `${hour}:${minute}${second && `:${second}`}`
    return `${year}-${month}-${day}T${time}${offset}`
  })
