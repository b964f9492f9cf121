/** Text for machines, with a button to copy it. */
import { useState } from 'react'
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import styles from './code.module.css'

const COPIED_MS = 1800

/** Copies `what`. The button then says that it is copied. */
export function Copy({ what, label }: { what: string; label?: string }) {
  const texts = textsOf('shell')
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await copyText(what)
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  return (
    <Button size="small" icon={isCopied ? 'check' : 'copy'} onClick={() => void copy()}>
      {isCopied ? texts.copied : (label ?? texts.copy)}
    </Button>
  )
}

/** The clipboard API exists only in secure contexts. On plain HTTP, this copies a selection instead. */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  // Inside an open dialog, because the rest of the page cannot take the focus.
  ;(document.querySelector('dialog[open]') ?? document.body).append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/** A block of code, left to right in every language. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <figure className={styles['code']}>
      <figcaption className={styles['caption']}>
        <span>{label}</span>
        <Copy what={text} />
      </figcaption>
      <pre dir="ltr" tabIndex={0} aria-label={label} className={styles['text']}>
        {text}
      </pre>
    </figure>
  )
}
