/**
 * A redirect pushes and replaces in quick succession, and the title comes later, so the address counts only once it is
 * stable.
 */
const REST_MS = 100

/** Calls back when the address may have changed without a page load. */
export function followHistory(changed: () => void): void {
  let timer = 0
  const rest = (): void => {
    clearTimeout(timer)
    timer = setTimeout(changed, REST_MS)
  }
  addEventListener('popstate', rest)
  addEventListener('hashchange', rest)
  if (window.navigation) window.navigation.addEventListener('currententrychange', rest)
  else for (const name of ['pushState', 'replaceState'] as const) callAfter(name, rest)
}

/** For browsers that have no event for these changes. */
function callAfter(name: 'pushState' | 'replaceState', rest: () => void): void {
  const original = history[name]
  history[name] = (...args) => {
    original.apply(history, args)
    rest()
  }
}
