import { textsOf } from '../../texts/index.ts'
import { ButtonLink } from '../action/button.tsx'
import { Empty } from './empty.tsx'
import { useTabTitle } from '../page/page.tsx'

/** Shown in place of a page that does not exist, or that the person may not see. */
export function NotFound() {
  const { notFound } = textsOf('shell')
  useTabTitle(notFound.title)
  const actions = <ButtonLink to="/dashboard">{notFound.home}</ButtonLink>
  return (
    <Empty level={1} icon="search" title={notFound.title} actions={actions}>
      {notFound.text}
    </Empty>
  )
}
