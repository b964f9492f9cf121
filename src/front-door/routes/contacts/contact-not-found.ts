import { RequestError } from '../../../errors.ts'

/** Unknown, erased, or another business's: the caller cannot tell which. */
export function contactNotFound(): RequestError {
  return new RequestError('not_found', { message: 'There is no such contact.' })
}
