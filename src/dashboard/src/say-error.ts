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

/** By the code. Undefined where there is no text for it. */
function say({ code = '', values = {} }: Said): string | undefined {
  const { codes, faults } = textsOf('errors')
  if (code in faults) return fillIn(faults[code as keyof typeof faults], values, formatNumber)
  return code in codes ? codes[code as keyof typeof codes] : undefined
}

const textsAreThere = (): Promise<boolean> =>
  Promise.race([
    loadTexts('errors').then(
      () => true,
      () => false,
    ),
    new Promise<false>((resolve) => setTimeout(resolve, MAX_WAIT_MS, false)),
  ])

/** What is wrong with a row of a file or with an item, after its place in it. Where an issue has no text, the server's words are all that is said. */
export async function sayRows<Row extends { error: string; issues?: (Issue & Said)[] }>(rows: Row[]): Promise<Row[]> {
  if (language === 'en' || rows.length === 0 || !(await textsAreThere())) return rows
  return rows.map((row) => {
    const said = (row.issues ?? []).map((issue) => ({ path: issue.path, text: say(issue) }))
    if (said.length === 0 || said.some(({ text }) => text === undefined)) return row
    const error = said.map(({ path, text = '' }) => (path === '' ? text : `\u2068${path}\u2069: ${text}`)).join('; ')
    return { ...row, error }
  })
}

/** Where there is no text for a code, and where the texts do not arrive in time, the server's words stay. */
export async function sayError({ message, error }: Failure): Promise<Failure> {
  if (error === undefined || language === 'en')
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
