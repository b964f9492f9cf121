import type { QueryClient } from '@tanstack/react-query'
import { api, take } from '../client.ts'
import { showError } from '../parts/toast.tsx'

/** Loads the sign-in page anew, so that nothing of the person stays in memory. */
export async function signOut(client: QueryClient): Promise<void> {
  try {
    await take(api.DELETE('/dashboard/api/session'))
  } catch (error) {
    return showError(error as Error)
  }
  client.clear()
  // Drafts may name people.
  sessionStorage.clear()
  location.assign('/dashboard/sign-in')
}
