/** The latest requests of the business, as they arrive. */
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import type { Filter } from './search.ts'
import { Filters } from './filters.tsx'
import { Requests } from './requests.tsx'

const route = getRouteApi('/app/business/dashboard/b/$businessId/live')

export function LivePage() {
  const texts = textsOf('live')
  const { id } = useBusiness()
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const [isPaused, setPaused] = useState(false)
  const choose = (search: Filter) => void navigate({ search, replace: true })
  return (
    <Page
      title={texts.title}
      intro={texts.intro}
      width="full"
      actions={
        <Button icon={isPaused ? 'play' : 'pause'} onClick={() => setPaused(!isPaused)}>
          {isPaused ? texts.resume : texts.pause}
        </Button>
      }
    >
      <Filters filter={filter} onChange={choose} />
      <Requests
        key={id + JSON.stringify(filter)}
        businessId={id}
        filter={filter}
        isPaused={isPaused}
        onClear={() => choose({})}
      />
    </Page>
  )
}
