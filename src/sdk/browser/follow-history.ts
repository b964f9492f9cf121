/** A redirect pushes and replaces in one go, and the title comes after: the address counts once it has come to rest. */
const REST_MS = 100

/** Calls back when the address may have changed without a new page. */
export function followHistory(changed: () => void): void {
  let timer = 0
  const rest = (): void => {
    clearTimeout(timer)
    timer = setTimeout(changed, REST_MS)
  }
  addEventListener('popstate', rest)
  addEventListener('hashchange', rest)
  if (window.navigation) window.navigation.addEventListener('currententrychange', rest)
  else for (const name of ['pushState', 'replaceState'] as const) tellAfter(name, rest)
}

/** For browsers that have no event for it. */
function tellAfter(name: 'pushState' | 'replaceState', rest: () => void): void {
  const original = history[name]
  history[name] = (...args) => {
    original.apply(history, args)
    rest()
  }
}
