/** Text for machines, to be copied. */
import { useState } from 'react'
import { textsOf } from '../texts/index.ts'
import { Button } from './button.tsx'
import styles from './code.module.css'

const SAID_MS = 1800

/** `what` is copied; the button says that it was. */
export function Copy({ what, label }: { what: string; label?: string }) {
  const texts = textsOf('shell')
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await copyText(what)
    setCopied(true)
    setTimeout(() => setCopied(false), SAID_MS)
  }
  return (
    <Button size="small" icon={isCopied ? 'check' : 'copy'} onClick={() => void copy()}>
      {isCopied ? texts.copied : (label ?? texts.copy)}
    </Button>
  )
}

/** The clipboard is open to secure contexts alone: on plain HTTP a selection is copied instead. */
export async function copyText(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  // Within an open dialog, where the rest of the page takes no focus.
  ;(document.querySelector('dialog[open]') ?? document.body).append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/** A block of code, from left to right in every language. */
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
