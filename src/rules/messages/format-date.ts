/**
 * Dates by the codes of strftime, as LiquidJS knows them, which would use the time zone and the language of the machine.
 */
import { dateFormat, dateNames } from './date-names.ts'

export interface LocalDate {
  /** Epoch milliseconds. */
  at: number
  /** Minutes east of UTC. */
  offset: number
  /** Name of its time zone; empty for none. */
  zone: string
  language: string
}

const CODE = /%([-_0^#:]+)?(\d+)?([EO])?(.)/g
/** A month that follows a day has another form in some languages. */
const DAY_OF_MONTH = /%[-_0^#]*\d*[de]/
const TWO_WIDE = 'CdeHIklmMSUWy'
const WIDTHS: Record<string, number> = { j: 3, L: 3, Y: 4 }
const PADDED_WITH_SPACES = 'aAbBceklpP'
const DAY_MS = 86_400_000

interface Field {
  date: LocalDate
  /** Its UTC fields are those of the local time. */
  local: Date
  flags: string
  width: number
  hasDay: boolean
}

/** @param charge is called with the length of what is padded, before it is made. */
export function formatDate(date: LocalDate, format: string, charge: (length: number) => void): string {
  const local = new Date(date.at + date.offset * 60_000)
  const hasDay = DAY_OF_MONTH.test(format)
  return format.replaceAll(CODE, (input, flags: string = '', digits: string = '', _, code: string) => {
    const convert = CODES[code]
    if (convert === undefined) return input
    const width = Number(digits)
    charge(width)
    const text = changeCase(convert({ date, local, flags, width, hasDay }), flags)
    return pad(text, code, flags, width)
  })
}

const CODES: Record<string, (field: Field) => string> = {
  a: ({ date, local }) => dateNames(date.language).shortWeekdays[local.getUTCDay()] ?? '',
  A: ({ date, local }) => dateNames(date.language).weekdays[local.getUTCDay()] ?? '',
  b: ({ date, local }) => dateNames(date.language).shortMonths[local.getUTCMonth()] ?? '',
  B: ({ date, local, hasDay }) =>
    dateNames(date.language)[hasDay ? 'monthsWithDay' : 'months'][local.getUTCMonth()] ?? '',
  c: (field) => `${showDay(field)} ${showTime(field)}`,
  C: ({ local }) => String(Math.floor(local.getUTCFullYear() / 100)),
  d: ({ local }) => String(local.getUTCDate()),
  H: ({ local }) => String(local.getUTCHours()),
  I: ({ local }) => String(local.getUTCHours() % 12 || 12),
  j: ({ local }) => String(dayOfYear(local)),
  L: ({ local }) => String(local.getUTCMilliseconds()),
  m: ({ local }) => String(local.getUTCMonth() + 1),
  M: ({ local }) => String(local.getUTCMinutes()),
  n: () => '\n',
  N: ({ local, width }) =>
    String(local.getUTCMilliseconds())
      .padStart(3, '0')
      .slice(0, width || 9)
      .padEnd(width || 9, '0'),
  p: ({ local }) => (local.getUTCHours() < 12 ? 'AM' : 'PM'),
  P: ({ local }) => (local.getUTCHours() < 12 ? 'am' : 'pm'),
  q: ({ local }) => ordinal(local.getUTCDate()),
  s: ({ date }) => String(Math.floor(date.at / 1000)),
  S: ({ local }) => String(local.getUTCSeconds()),
  t: () => '\t',
  u: ({ local }) => String(local.getUTCDay() || 7),
  U: ({ local }) => String(weekOfYear(local, 0)),
  w: ({ local }) => String(local.getUTCDay()),
  W: ({ local }) => String(weekOfYear(local, 1)),
  x: (field) => showDay(field),
  X: (field) => showTime(field),
  y: ({ local }) => String(((local.getUTCFullYear() % 100) + 100) % 100),
  Y: ({ local }) => String(local.getUTCFullYear()),
  z: (field) => showOffset(field),
  Z: (field) => field.date.zone || showOffset(field),
  '%': () => '%',
}
for (const [code, same] of Object.entries({ e: 'd', h: 'b', k: 'H', l: 'I' })) CODES[code] = CODES[same]!

const showDay = ({ date, local }: Field): string =>
  dateFormat(date.language, { year: 'numeric', month: '2-digit', day: '2-digit' }).format(local)
const showTime = ({ date, local }: Field): string => dateFormat(date.language, { timeStyle: 'medium' }).format(local)

function showOffset({ date: { offset }, flags }: Field): string {
  const minutes = Math.abs(offset)
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
  return `${offset < 0 ? '-' : '+'}${hour}${flags.includes(':') ? ':' : ''}${minute}`
}

const dayOfYear = (local: Date): number =>
  Math.floor((local.getTime() - new Date(local).setUTCMonth(0, 1)) / DAY_MS) + 1

/** Days before the first `start` of the year (0 is Sunday) belong to week 0. */
const weekOfYear = (local: Date, start: number): number =>
  Math.floor((dayOfYear(local) - 1 - ((local.getUTCDay() - start + 7) % 7) + 7) / 7)

function ordinal(day: number): string {
  if (day >= 11 && day <= 13) return 'th'
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'
}

function changeCase(text: string, flags: string): string {
  if (flags.includes('^')) return text.toUpperCase()
  if (!flags.includes('#')) return text
  return /[a-z]/.test(text) ? text.toUpperCase() : text.toLowerCase()
}

function pad(text: string, code: string, flags: string, width: number): string {
  const wanted = flags.includes('-') ? 0 : width || WIDTHS[code] || (TWO_WIDE.includes(code) ? 2 : 0)
  const isSpaced = flags.includes('_') || (PADDED_WITH_SPACES.includes(code) && !flags.includes('0'))
  if (!isSpaced && text.startsWith('-')) return `-${text.slice(1).padStart(wanted - 1, '0')}`
  return text.padStart(wanted, isSpaced ? ' ' : '0')
}
