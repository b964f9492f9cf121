import { warn } from './warn.ts'

/** Wraps a function so that its errors do not break the page. */
export function guard<Args extends unknown[]>(work: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      work(...args)
    } catch (error) {
      warn(error)
    }
  }
}
