/**
 * The token is in the URL fragment, which browsers do not send to servers, so it is not logged. It is removed from the
 * address bar immediately. This tab keeps it for people who have to sign in first, and forgets it once it is used.
 */
const KEPT = 'sluice.link'

export function readToken(): string {
  const token = location.hash.slice(1)
  if (token === '') return sessionStorage.getItem(KEPT) ?? ''
  sessionStorage.setItem(KEPT, token)
  history.replaceState(history.state, '', location.pathname)
  return token
}

export const forgetToken = (): void => sessionStorage.removeItem(KEPT)
