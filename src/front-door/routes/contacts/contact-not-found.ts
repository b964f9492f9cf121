import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'

/**
 * Returns the error for an unknown or erased contact, or one of another business. The answer is the same, so that it
 * reveals nothing.
 */
export function contactNotFound(): RequestError {
  return new RequestError('not_found', { reason: faultOf('', 'no_contact') })
}
