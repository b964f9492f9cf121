import { useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import type { paths } from '../../../api.d.ts'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { type FormState, useForm } from '../../../parts/form/use-form.ts'
import { meQuery } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Settings, settingsQuery } from '../queries.ts'

export type SettingsChange = NonNullable<
  paths['/dashboard/api/b/{businessId}/business']['patch']['requestBody']
>['content']['application/json']

/** Sends only changed settings: another person may have changed the others in the meantime. */
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
    // The side navigation shows the name of the business.
    await client.invalidateQueries(meQuery)
    showToast(textsOf('shell').saved)
  })
}
