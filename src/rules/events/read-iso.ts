import { Temporal } from 'temporal-polyfill'

/**
 * The extended form of ISO 8601, which RFC 3339, `toISOString` and all common libraries use: a calendar date, or a date
 * and a time separated by `T`, with at least minutes, with or without an offset.
 */
const EXTENDED = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i

/** The basic form, without separators. It needs a time: a date alone could be any number. */
const BASIC = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)((?:\d\d(?:[.,]\d+)?)?)((?:Z|[+-]\d\d(?:\d\d)?)?)$/i

/**
 * Reads an ISO 8601 date or date-time as epoch ms. Returns undefined for other text, and for instants that do not exist
 * (30 February, 24:00, an offset of a day or more).
 *
 * Without an offset the time is UTC, and a date alone is midnight UTC (decisions, "Time"). Digits beyond the
 * millisecond are cut off. A leap second (`:60`) is read as the second before it. It is accepted only at the end of a
 * UTC day, but on any day: future leap seconds are not known yet.
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

/** Converts the basic form to the extended form, and returns other text unchanged. */
const extend = (text: string): string =>
  text.replace(BASIC, (_, year: string, month, day, hour, minute, second: string, offset: string) => {
    const time = `${hour}:${minute}${second && `:${second}`}`
    return `${year}-${month}-${day}T${time}${offset}`
  })
