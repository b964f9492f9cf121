/** The content of a message: HTML in a frame without scripts, everything else as text. */
import { textsOf } from '../../texts/index.ts'
import styles from './content.module.css'
import type { Rendering } from './queries.ts'

interface ContentProps {
  /** Address of the HTML for the frame. Undefined: only text is shown. */
  src: string | undefined
  /** Null when nothing was rendered or the rendering is no longer stored. */
  rendering: Rendering | null
  /** Label of content that was not sent, such as a preview. Only read aloud. */
  title?: string
}

export function Content({ src, rendering, title }: ContentProps) {
  const texts = textsOf('campaigns')
  return (
    <section aria-label={title ?? texts.content} className="stack">
      {title === undefined && <h3>{texts.content}</h3>}
      {rendering === null ? (
        <p className="muted">{texts.noContent}</p>
      ) : (
        <>
          <Lines rendering={rendering} />
          {src !== undefined && rendering.html !== undefined && (
            <>
              <iframe sandbox="" title={title ?? texts.content} src={src} className={styles['frame']} />
              <p className="muted small">{texts.images}</p>
            </>
          )}
          {rendering.text !== undefined && (
            <Text text={rendering.text} isFolded={src !== undefined && rendering.html !== undefined} />
          )}
        </>
      )}
    </section>
  )
}

function Lines({ rendering }: { rendering: Rendering }) {
  const { fields } = textsOf('campaigns')
  const { parameters, ...rest } = rendering
  const lines = { ...rest, parameters: parameters?.join(', ') }
  const names = Object.keys(fields) as (keyof typeof fields)[]
  return (
    <dl className={styles['facts']}>
      {names.map((name) => {
        const value = lines[name]
        return value === undefined ? null : (
          <div key={name}>
            <dt className="muted small">{fields[name]}</dt>
            <dd>
              <bdi className="foreign">{value}</bdi>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

/** Collapsed below the HTML, which has the same content. */
function Text({ text, isFolded }: { text: string; isFolded: boolean }) {
  const { asText } = textsOf('campaigns')
  const lines = (
    <pre tabIndex={0} aria-label={asText} className={`foreign ${styles['text']}`}>
      {text}
    </pre>
  )
  if (!isFolded) return lines
  return (
    <details>
      <summary>{asText}</summary>
      {lines}
    </details>
  )
}
