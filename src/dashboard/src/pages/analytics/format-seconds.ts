import { locale } from '../../format.ts'

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** In the greatest unit that it fills: 2.5 days. */
export function formatSeconds(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? (['second', 1] as const)
  const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(locale, options).format(seconds / size)
}
