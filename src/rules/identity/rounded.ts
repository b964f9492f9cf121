/**
 * Numbers that another program has rounded. A spreadsheet shows a long number as `4.47912E+11` and saves only these
 * digits, so different people get the same text. It identifies nobody, and as a key it stands for different events.
 */
import { withoutInvisible } from '../events/text.ts'

/** `5.12E+12`, `5,12e12` and `5E+12`. `12E5` is not one: it can be an id. */
const SCIENTIFIC = /^[+-]?\d+(?:[.,]\d+E\+?|E\+)\d+$/i
/** A phone has no letters, so `4E11` is one more form of a rounded number. */
const SCIENTIFIC_PHONE = /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i
/** The letter of both forms, also full-width. Most values do not have it. */
const EXPONENT = /[Ee\uFF25\uFF45]/

/**
 * Returns whether a value looks rounded by a spreadsheet. For customer ids, idempotency keys and whatever else has to
 * be exact. White space around it, invisible characters and full-width forms make no difference.
 */
export const looksRounded = (text: string): boolean => EXPONENT.test(text) && SCIENTIFIC.test(plain(text))

/** As `looksRounded`, for a phone, where more forms can only be a rounded number. */
export const looksRoundedPhone = (text: string): boolean => EXPONENT.test(text) && SCIENTIFIC_PHONE.test(plain(text))

const plain = (text: string): string => toHalfWidth(withoutInvisible(text)).trim()

/** Converts full-width characters and the ideographic space to ASCII. */
export function toHalfWidth(text: string): string {
  return text
    .replace(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replaceAll('\u3000', ' ')
}
