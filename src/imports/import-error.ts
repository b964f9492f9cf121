import { type Fault, type FaultCode, type FaultValues, faultOf } from '../rules/faults.ts'

/** The file, or the mapping of its columns, cannot be used. `code`: `usage` for the mapping. */
export class ImportError extends Error {
  override name = 'ImportError'
  readonly code: 'usage' | 'unreadable_file'
  /** What is wrong with the file, for a page in another language. */
  readonly fault: Fault | undefined

  constructor(code: 'usage' | 'unreadable_file', reason: string | Fault) {
    super(typeof reason === 'string' ? reason : reason.message)
    this.code = code
    this.fault = typeof reason === 'string' ? undefined : reason
  }
}

export const unreadable = <Code extends FaultCode>(code: Code, ...values: FaultValues<Code>): ImportError =>
  new ImportError('unreadable_file', faultOf('', code, ...values))
