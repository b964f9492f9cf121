import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, type ErrorComponentProps, Outlet, useRouter } from '@tanstack/react-router'
import { ErrorBox } from '../parts/feedback/error-box.tsx'
import { Page } from '../parts/page/page.tsx'
import { textsOf } from '../texts/index.ts'

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Outlet })

/** Shown when one page failed. The frame around it stays. */
export function Failed({ error }: ErrorComponentProps) {
  const { failed } = textsOf('shell')
  const router = useRouter()
  return (
    <Page title={failed.title} intro={failed.text} width="text">
      <ErrorBox
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => void router.invalidate()}
      />
    </Page>
  )
}
