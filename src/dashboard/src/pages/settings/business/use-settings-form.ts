import { useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { paths } from '../../../api.d.ts'
import { showToast } from '../../../parts/toast.tsx'
import { type FormState, useForm } from '../../../parts/use-form.ts'
import { meQuery } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Settings, settingsQuery } from '../queries.ts'

export type SettingsChange = NonNullable<
  paths['/dashboard/api/b/{businessId}/business']['patch']['requestBody']
>['content']['application/json']

/** Sends only what the person changed: another person may have changed the rest meanwhile. */
export function useSettingsForm(
  settings: Settings,
  read: (values: Record<string, string>) => SettingsChange,
): FormState {
  const client = useQueryClient()
  const { businessId } = settings
  return useForm(async (values) => {
    const isChanged = ([name, value]: [string, unknown]) =>
      JSON.stringify(value) !== JSON.stringify(settings[name as keyof Settings] ?? '')
    const body: SettingsChange = Object.fromEntries(Object.entries(read(values)).filter(isChanged))
    const params = { path: { businessId } }
    const saved = await take(api.PATCH('/dashboard/api/b/{businessId}/business', { params, body }))
    client.setQueryData(settingsQuery(businessId).queryKey, saved)
    // The name stands in the side navigation.
    await client.invalidateQueries(meQuery)
    showToast(textsOf('shell').saved)
  })
}
