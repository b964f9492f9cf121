import type { QueryClient } from '@tanstack/react-query'
import { api, take } from '../client.ts'
import { showError } from '../parts/feedback/toast.tsx'

/** Loads the sign-in page from the server, so that nothing about the person stays in memory. */
export async function signOut(client: QueryClient): Promise<void> {
  try {
    await take(api.DELETE('/dashboard/api/session'))
  } catch (error) {
    return showError(error as Error)
  }
  client.clear()
  // Drafts may contain personal data.
  sessionStorage.clear()
  location.assign('/dashboard/sign-in')
}
