/** The words and signs that people write before an extension, in lower case and without a full stop. */
const WORDS =
  'ext|extn|xtn|extension|extensión|extensao|extensão|x|доб|добавочный|anexo|int|interno|ramal|app|apparat|durchwahl|dw|' +
  'kl|klappe|nst|poste|toestel|wew|שלוחה|dahili|anknytning|lokal|分机|内線'
const EXTENSION = new RegExp(
  `^(.*\\d[^\\d\\p{L}]*?)(?:;ext=|(?<!\\p{L})(?:${WORDS})(?!\\p{L})|[#~])[^\\d\\p{L}]*(\\d{1,20})[^\\d\\p{L}]*$`,
  'iu',
)
/** With fewer digits before it, it is not an extension: `12 ext 345`. */
const MIN_DIGITS = 5

/**
 * Splits `+1 212 555 0100 ext. 5` into number and extension. `text` has ASCII digits. `extension` is undefined when the
 * text has none.
 */
export function splitExtension(text: string): { number: string; extension: string | undefined } {
  const [, number, extension] = EXTENSION.exec(text) ?? []
  const isNumber = number !== undefined && number.replace(/\D/g, '').length >= MIN_DIGITS && !hasLetterInside(number)
  return isNumber ? { number: number.trim(), extension } : { number: text, extension: undefined }
}

const hasLetterInside = (text: string): boolean => /\d\D*\p{L}\D*\d/u.test(text)
