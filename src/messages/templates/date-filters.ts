/** The date filters of Liquid, without the time zone and the language of the machine. */
import { type Context, type Liquid, toValue } from 'liquidjs'
import { formatDate } from '../../rules/messages/format-date.ts'
import { readDate, readZone } from '../../rules/messages/read-date.ts'
import { print } from './markup.ts'
import { registerOf } from './registers.ts'

const DEFAULT_FORMAT = '%A, %B %-e, %Y at %-l:%M %P %z'

type FilterThis = { context: Context }

interface Shown {
  format: string
  zone?: unknown
  /** Default: the language of the message. */
  language?: string
}

/** What is not a date is shown as it is. `now` and `today` are the instant of the rendering. */
function show({ context }: FilterThis, value: unknown, { format, zone, language }: Shown): unknown {
  const wanted = toValue(value) as unknown
  const at = wanted === 'now' || wanted === 'today' ? registerOf(context, 'now') : readDate(wanted)
  if (at === undefined) return wanted
  context.memoryLimit.use(format.length)
  const date = { at, ...readZone(toValue(zone), at), language: language ?? registerOf(context, 'language') }
  return formatDate(date, format, (length) => context.memoryLimit.use(length))
}

/** `month`: its code. */
function showDay(self: FilterThis, value: unknown, month: string, [type, style]: unknown[]): unknown {
  const ordinal = style === 'US' ? `${month} %-d%q, %Y` : `%-d%q ${month} %Y`
  return show(self, value, { format: type === 'ordinal' ? ordinal : `%d ${month} %Y` })
}

export function registerDateFilters(liquid: Liquid): void {
  liquid.registerFilter('date', function (value: unknown, format?: unknown, zone?: unknown) {
    const wanted = toValue(format) as unknown
    return show(this, value, {
      format: wanted === undefined || wanted === null ? DEFAULT_FORMAT : print(wanted),
      zone,
    })
  })
  liquid.registerFilter('date_to_xmlschema', function (value: unknown) {
    return show(this, value, { format: '%Y-%m-%dT%H:%M:%S%:z' })
  })
  liquid.registerFilter('date_to_rfc822', function (value: unknown) {
    return show(this, value, { format: '%a, %d %b %Y %H:%M:%S %z', language: 'en' })
  })
  liquid.registerFilter('date_to_string', function (value: unknown, ...rest: unknown[]) {
    return showDay(this, value, '%b', rest)
  })
  liquid.registerFilter('date_to_long_string', function (value: unknown, ...rest: unknown[]) {
    return showDay(this, value, '%B', rest)
  })
}
