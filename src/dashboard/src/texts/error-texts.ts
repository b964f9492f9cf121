/** What the server says of an error, in the language of the page. */
import type { FaultCode } from '../../../rules/faults.ts'
import type { components } from '../api.d.ts'
import type { texts as shell } from './en/shell.ts'

/** `{name}` stands for a value. */
export type TextsOf<Group> = Record<keyof Group, string>

type ErrorCode = components['schemas']['Failure']['error']['code']

export interface ErrorTexts {
  /** Those that the shell has no text for. */
  codes: Record<Exclude<ErrorCode, keyof (typeof shell)['errors']>, string>
  /** Of single fields, and of why a whole request is refused. */
  faults: Record<FaultCode, string>
}

/** The server's own words are English. */
export interface EnglishErrorTexts {
  codes: Partial<Record<ErrorCode, string>>
  faults: Partial<Record<FaultCode, string>>
}
