import './app.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type AnyRoute, RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { ApiError, hooks } from './client.ts'
import { buildRouter } from './router.ts'
import { meQuery } from './session/session.ts'
import { loadTexts } from './texts/index.ts'

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Retry only failures that may pass: the server would reject the others again.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && [0, 429, 502, 503, 504].includes(error.status),
    },
  },
})
const router = buildRouter(queryClient)

// Reload the page, so that nothing the person saw stays in memory.
hooks.signedOut = () => {
  const wasSignedIn = queryClient.getQueryData(meQuery.queryKey) != null
  const { href } = router.buildLocation({ to: '/dashboard/sign-in', search: { to: router.state.location.href } })
  if (wasSignedIn) location.assign(href)
}

// Screen readers and the keyboard start at the new page, not at the link that led there.
let shownPath = location.pathname
router.subscribe('onRendered', ({ toLocation }) => {
  if (toLocation.pathname === shownPath) return
  shownPath = toLocation.pathname
  document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
})

// A release has replaced the files of this page. The new ones have other names.
addEventListener('vite:preloadError', () => location.reload())

const root = document.getElementById('page')
if (root === null) throw new Error('index.html has no element for the page.')
const mount = createRoot(root)
// Start all requests at once, so that none waits for another. The HTML of the front door already preloads the first
// two.
void queryClient.prefetchQuery(meQuery)
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const { component } = (router.routesById as Record<string, AnyRoute>)[routeId]?.options ?? {}
  void (component as { preload?: () => Promise<void> } | undefined)?.preload?.()
}
await loadTexts('shell')
mount.render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
)
