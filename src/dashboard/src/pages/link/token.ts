/**
 * The token is in the fragment, which goes to no server and no log. It leaves the address bar at once. It stays in this tab for
 * those who have to sign in first, and is forgotten when it is used.
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
