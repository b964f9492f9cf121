/** Puts what the server says of an error into the language of the page. The server's words are English. */
import { type Values, fillIn } from './fill-in.ts'
import { formatNumber } from './format.ts'
import { language, loadTexts, textsOf } from './texts/index.ts'

interface Said {
  code?: string
  values?: Values
}
export interface Issue {
  path: string
  message: string
}
/** The body of a refusal. */
export interface Failure {
  message?: string
  error?: { code: string; issues?: (Issue & Said)[]; reason?: Said }
}

/** A person waits for the answer, and the first one also for the texts. */
const MAX_WAIT_MS = 2000

/** Where there is no text for a code, and where the texts do not arrive in time, the server's words stay. */
export async function sayError({ message, error }: Failure): Promise<Failure> {
  if (error === undefined || language === 'en')
    return { ...(message !== undefined && { message }), ...(error && { error }) }
  const isThere = await Promise.race([
    loadTexts('errors').then(
      () => true,
      () => false,
    ),
    new Promise<false>((resolve) => setTimeout(resolve, MAX_WAIT_MS, false)),
  ])
  if (!isThere) return { ...(message !== undefined && { message }), error }
  const { codes, faults } = textsOf('errors')
  const say = ({ code = '', values = {} }: Said): string | undefined =>
    code in faults ? fillIn(faults[code as keyof typeof faults], values, formatNumber) : undefined
  const whole = error.reason && say(error.reason)
  const general = error.code in codes ? codes[error.code as keyof typeof codes] : undefined
  return {
    message: whole ?? general ?? message ?? '',
    error: {
      ...error,
      issues: error.issues?.map((issue) => ({ ...issue, message: say(issue) ?? issue.message })) ?? [],
    },
  }
}
