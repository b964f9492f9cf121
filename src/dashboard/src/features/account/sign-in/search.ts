export interface SignInSearch {
  /** Where the person wanted to go. */
  to?: string
}

export const readSignIn = ({ to }: Record<string, unknown>): SignInSearch => (typeof to === 'string' ? { to } : {})
