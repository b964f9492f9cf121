/** A page that is a list: its title and actions, what went wrong, filters, and the table. */
import type { UseQueryResult } from '@tanstack/react-query'
import { type LinkProps, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ButtonLink } from '../action/button.tsx'
import { useShortcut } from '../action/shortcuts.ts'
import { ErrorBox } from '../feedback/error-box.tsx'
import { Page } from '../page/page.tsx'
import { Table, type TableProps } from './table.tsx'

interface ListPageProps<Row> extends Omit<TableProps<Row>, 'label' | 'isLoading'> {
  title: string
  intro: string
  width?: 'full'
  list: Pick<UseQueryResult, 'error' | 'isPending' | 'refetch'>
  actions: ReactNode
  /** Filters, and what else stands above the table. */
  children?: ReactNode
}

export function ListPage<Row>({ title, intro, width, list, actions, children, ...table }: ListPageProps<Row>) {
  const { error, isPending, refetch } = list
  return (
    <Page title={title} intro={intro} actions={actions} width={width}>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {children}
      {error === null && <Table {...table} label={title} isLoading={isPending} />}
    </Page>
  )
}

interface CreateLinkProps extends Pick<LinkProps, 'to' | 'params'> {
  label: string
}

/** Leads to the page where something new is made. Its key is `n`. */
export function CreateLink({ label, ...target }: CreateLinkProps) {
  const navigate = useNavigate()
  useShortcut('n', label, () => void navigate(target))
  return (
    <ButtonLink kind="primary" icon="plus" {...target}>
      {label}
    </ButtonLink>
  )
}
