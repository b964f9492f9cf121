import { language } from '../../../texts/language.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')
/** Groups of countries, and codes for no country: they have a name, too. */
const NO_COUNTRIES = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ'])

let known: { value: string; label: string }[] | undefined

/** Returns the codes of two letters that have a name, with their names in the reader's language. */
export function countries(): readonly { value: string; label: string }[] {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
  known ??= LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
    .filter((code) => !NO_COUNTRIES.has(code))
    .flatMap((value) => {
      const label = names.of(value)
      // Former codes have the name of the code that took their place: only that one is suggested.
      return label === undefined || new Intl.Locale(`und-${value}`).region !== value ? [] : [{ value, label }]
    })
  return known
}
