/** The body of a webhook as a template: whether a value can change its JSON. */

const OUTPUT = /\{\{-?(.*?)-?\}\}/gs
/** Filters after which a value has no quote and no comma. */
const SAFE =
  /\|\s*(?:json|jsonify|url_encode|cgi_escape|size|plus|minus|times|divided_by|modulo|round|ceil|floor|abs|at_least|at_most|to_integer|sum)\b[^|]*$/
/** A number, a text of the template or the instant of the message, whatever is made of it. */
const FIXED = /^\s*(?:contact\.revenue\s*$|"[^"]*"|'[^']*'|-?\d)/

/** A value with a quote ends the string that it stands in, and adds fields of its own. */
const hasBareOutput = (body: string): boolean =>
  [...body.matchAll(OUTPUT)].some(([, output = '']) => !SAFE.test(output) && !FIXED.test(output))

/** Returns the languages of a webhook's template in whose body a value stands without the filter `json`. */
export const languagesWithBareOutput = (variants: Record<string, { body?: string }>): string[] =>
  Object.entries(variants).flatMap(([language, { body = '' }]) => (hasBareOutput(body) ? [language] : []))

/** `path`: of the template. */
export const warnOfBareOutput = (path: string, languages: readonly string[]): string =>
  `${path} has a value without the filter json (${languages.join(', ')}): a quote in it changes the JSON. Write {{contact.city | json}}, without quotes around it`
