import { warn } from './warn.ts'

/** The same, but no fault of ours breaks the page. */
export function guard<Args extends unknown[]>(work: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      work(...args)
    } catch (error) {
      warn(error)
    }
  }
}
