/** A label, a control, a hint, and the server's error. */
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import styles from './field.module.css'
import { Icon } from '../value/icon.tsx'

interface Frame {
  label: string
  /** Also the name of the value in the form. */
  name: string
  hint?: ReactNode
  /** `form.issueOf(name)` from use-form.ts. */
  error?: string | undefined
  /** The label is read aloud but not shown. */
  isLabelHidden?: boolean
}

function useFrame({ hint, error, name }: Frame) {
  const id = useId()
  const described = [hint != null && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ')
  const control = {
    id,
    name,
    'aria-describedby': described || undefined,
    'aria-invalid': error !== undefined || undefined,
    className: styles['control'],
  }
  return { id, control }
}

function FieldFrame({ frame, id, children }: { frame: Frame; id: string; children: ReactNode }) {
  return (
    <div className={styles['field']}>
      <label htmlFor={id} className={frame.isLabelHidden ? 'visually-hidden' : styles['label']}>
        {frame.label}
      </label>
      {children}
      <Below frame={frame} id={id} />
    </div>
  )
}

function Below({ frame: { hint, error }, id }: { frame: Frame; id: string }) {
  return (
    <>
      {error !== undefined && (
        <p id={`${id}-error`} className={styles['error']}>
          <Icon name="warn" size={14} />
          {error}
        </p>
      )}
      {hint != null && (
        <p id={`${id}-hint`} className={styles['hint']}>
          {hint}
        </p>
      )}
    </>
  )
}

const split = <P extends Frame>({ label, name, hint, error, isLabelHidden = false, ...rest }: P) => ({
  frame: { label, name, hint, error, isLabelHidden },
  rest,
})

export function TextField(props: Frame & InputHTMLAttributes<HTMLInputElement>) {
  const { frame, rest } = split(props)
  const { id, control } = useFrame(frame)
  return (
    <FieldFrame frame={frame} id={id}>
      <input type="text" {...rest} {...control} />
    </FieldFrame>
  )
}

export function TextAreaField(props: Frame & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const { frame, rest } = split(props)
  const { id, control } = useFrame(frame)
  return (
    <FieldFrame frame={frame} id={id}>
      <textarea rows={3} {...rest} {...control} />
    </FieldFrame>
  )
}

export interface Option {
  value: string
  label: string
  /** Heading under which the option is listed, with the others of its group. */
  group?: string
}

type SelectProps = Frame & SelectHTMLAttributes<HTMLSelectElement> & { options: readonly Option[] }

export function SelectField({ options, ...props }: SelectProps) {
  const { frame, rest } = split(props)
  const { id, control } = useFrame(frame)
  return (
    <FieldFrame frame={frame} id={id}>
      <select {...rest} {...control}>
        {[...Map.groupBy(options, ({ group }) => group)].map(([group, members]) =>
          group === undefined ? (
            // A function, not a component: Preact applies `defaultValue` only to options that are direct children of
            // the select.
            optionsOf(members)
          ) : (
            <optgroup key={group} label={group}>
              {optionsOf(members)}
            </optgroup>
          ),
        )}
      </select>
    </FieldFrame>
  )
}

const optionsOf = (options: readonly Option[]) =>
  options.map(({ value, label }) => (
    <option key={value} value={value}>
      {label}
    </option>
  ))

export function CheckboxField(props: Frame & InputHTMLAttributes<HTMLInputElement>) {
  const { frame, rest } = split(props)
  const { id, control } = useFrame(frame)
  return (
    <div className={styles['field']}>
      <label className={styles['check']}>
        <input type="checkbox" {...rest} {...control} className={styles['box']} />
        {frame.label}
      </label>
      <Below frame={frame} id={id} />
    </div>
  )
}
