/**
 * Says the server's error messages, which describe the JSON of the API in English, in words for a person in the language
 * of the page.
 */
import { type Values, fillIn } from './fill-in.ts'
import { formatNumber } from './format.ts'
import { language, loadTexts, textsOf } from './texts/index.ts'
import { withoutPath } from './without-path.ts'

interface CodedMessage {
  code?: string
  values?: Values
}
export interface Issue {
  path: string
  message: string
}
/** Body of an error response. */
export interface Failure {
  message?: string
  error?: { code: string; issues?: (Issue & CodedMessage)[]; reason?: CodedMessage }
}

/** Limit of the wait for the texts. The first error has to load them, while a person waits for the message. */
const MAX_WAIT_MS = 2000

/** Returns the text of the code; undefined when there is none. */
function say({ code = '', values = {} }: CodedMessage): string | undefined {
  const { codes, faults }: { codes: Record<string, string>; faults: Record<string, string> } = textsOf('errors')
  const fault = Object.hasOwn(faults, code) ? faults[code] : undefined
  if (fault !== undefined) return fillIn(fault, values, formatNumber)
  return Object.hasOwn(codes, code) ? codes[code] : undefined
}

const textsAreThere = (): Promise<boolean> =>
  Promise.race([
    loadTexts('errors').then(
      () => true,
      () => false,
    ),
    new Promise<false>((resolve) => setTimeout(resolve, MAX_WAIT_MS, false)),
  ])

/**
 * Translates the errors of rows of a file. Each issue is preceded by its field within the row. When an issue has no
 * text, the row keeps the server's message. `nameOf`: the name that the page has for the field of a path. Without it,
 * English rows keep the server's messages.
 */
export async function sayRows<Row extends { error: string; issues?: (Issue & CodedMessage)[] }>(
  rows: Row[],
  nameOf?: (path: string) => string | undefined,
): Promise<Row[]> {
  if ((language === 'en' && nameOf === undefined) || rows.length === 0 || !(await textsAreThere())) return rows
  return rows.map((row) => {
    const translated = (row.issues ?? []).map((issue) => ({
      field: nameOf?.(issue.path) ?? (issue.path && `\u2068${issue.path}\u2069`),
      text: say(issue) ?? (language === 'en' ? withoutPath(issue) : undefined),
    }))
    if (translated.length === 0 || translated.some(({ text }) => text === undefined)) return row
    const error = translated.map(({ field, text = '' }) => (field === '' ? text : `${field}: ${text}`)).join('; ')
    return { ...row, error }
  })
}

/** Translates an error. Keeps the server's words when a code has no text or when the texts do not arrive in time. */
export async function translateError({ message, error }: Failure): Promise<Failure> {
  if (error === undefined || (language === 'en' && !error.issues?.length))
    return { ...(message !== undefined && { message }), ...(error && { error }) }
  if (!(await textsAreThere())) return { ...(message !== undefined && { message }), error }
  const whole = error.reason && say(error.reason)
  const general = say({ code: error.code })
  return {
    message: whole ?? general ?? message ?? '',
    error: {
      ...error,
      issues: error.issues?.map((issue) => ({ ...issue, message: say(issue) ?? issue.message })) ?? [],
    },
  }
}
