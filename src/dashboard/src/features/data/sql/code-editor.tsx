/** The editor of a statement: CodeMirror with ClickHouse's keywords and the names of the views. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { SQLDialect, sql } from '@codemirror/lang-sql'
import { HighlightStyle, bracketMatching, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState, Prec } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useEffectEvent, useRef } from 'react'
import styles from './sql.module.css'

export interface EditorHandle {
  /** Inserts a text at the cursor. */
  insert: (text: string) => void
  /** Replaces the whole text. */
  replace: (text: string) => void
}

export interface CodeEditorProps {
  label: string
  /** Initial text. Later changes go through `EditorHandle`: a prop that arrives late must not undo typing. */
  initial: string
  /** Column names by view. */
  schema: Record<string, string[]>
  onChange: (value: string) => void
  onRun: () => void
  onReady: (editor: EditorHandle) => void
}

const FUNCTIONS = `any argMax argMin arrayJoin arrayMap arrayFilter avg count countIf dateDiff has hasAny if ifNull
  JSONExtractString JSONExtractFloat JSONExtractInt JSONHas length lower max median min multiIf now quantile round sum sumIf
  toDate toDate32 toFloat64 toInt64 toStartOfDay toStartOfHour toStartOfMonth toStartOfWeek toString toUUID today uniq
  uniqExact uniqExactIf windowFunnel`
const KEYWORDS = `all and anti any array as asc asof between by case cross cube desc distinct else end except exists final following from full
  global group having ilike in inner intersect interval into is join left like limit not null nulls offset on or order outer
  over partition preceding prewhere qualify range replace right rollup row rows sample select semi then ties totals unbounded
  union using when where window with first last true false day hour minute month quarter second week year`
const TYPES = `bool date date32 datetime datetime64 decimal float32 float64 int8 int16 int32 int64 map nullable string tuple uint8
  uint16 uint32 uint64 uuid`
const CLICKHOUSE = SQLDialect.define({
  keywords: KEYWORDS,
  builtin: FUNCTIONS,
  types: TYPES,
  identifierQuotes: '`"',
})

/** Uses the page's colour variables, which are also available in the shadow root. */
const LOOK = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', minHeight: '190px', maxHeight: '46vh' },
  '.cm-content': { caretColor: 'var(--text)', padding: '10px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--muted)',
    border: 'none',
    paddingInlineStart: '6px',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--selected)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--border)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
})
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent-text)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.standard(tags.name), tags.typeName], color: 'var(--chart-4)' },
])

/**
 * Handles text typed over a selection. Otherwise Chromium writes the colours of the selected text into an inline style,
 * which the content security policy rejects.
 */
const OVERTYPING = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data } = event
    const { from, to, empty } = view.state.selection.main
    if (empty || inputType !== 'insertText' || data === null) return false
    const typed = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' })
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, typed))
    if (!isHandled) view.dispatch(typed())
    event.preventDefault()
    return true
  },
})

const languageOf = (schema: Record<string, string[]>) => sql({ dialect: CLICKHOUSE, schema })

export function CodeEditor({ label, initial, schema, onChange, onRun, onReady }: CodeEditorProps) {
  const frame = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const language = useRef(new Compartment())
  const changed = useEffectEvent(onChange)
  const run = useEffectEvent(onRun)
  const ready = useEffectEvent(onReady)
  const begin = useEffectEvent(() => ({ text: initial, names: schema }))
  useEffect(() => {
    const host = frame.current
    if (host === null) return
    // The content security policy rejects the style element that CodeMirror adds. A shadow root uses a style sheet
    // object instead.
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    const { text, names } = begin()
    const editor = new EditorView({
      root,
      parent: root,
      doc: text,
      extensions: [
        lineNumbers(),
        EditorView.lineWrapping,
        OVERTYPING,
        history(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        language.current.of(languageOf(names)),
        syntaxHighlighting(COLOURS),
        LOOK,
        EditorState.tabSize.of(2),
        EditorView.contentAttributes.of({ 'aria-label': label, dir: 'ltr', spellcheck: 'false', tabindex: '0' }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => (run(), true) }])),
        // No key binding for Tab: it leaves the editor, as it leaves every field.
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      ],
    })
    view.current = editor
    ready({
      insert(added) {
        editor.dispatch(editor.state.replaceSelection(added))
        editor.focus()
      },
      replace: (whole) => editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: whole } }),
    })
    return () => editor.destroy()
  }, [label])
  useEffect(() => {
    view.current?.dispatch({ effects: language.current.reconfigure(languageOf(schema)) })
  }, [schema])
  return <div ref={frame} dir="ltr" className={styles['editor']} />
}
