/** What a page shows, as a CSV file that the page makes. */
import { csvText } from '../../csv.ts'
import { download } from '../../download.ts'
import { Button } from '../../parts/button.tsx'
import { textsOf } from '../../texts/index.ts'

interface CsvButtonProps {
  /** Of the file, without its end. */
  name: string
  rows: () => readonly (readonly (string | number | null)[])[]
}

export function CsvButton({ name, rows }: CsvButtonProps) {
  const day = new Date().toISOString().slice(0, 10)
  return (
    <div className="actions">
      <Button size="small" kind="quiet" icon="import" onClick={() => download(`${name}-${day}.csv`, csvText(rows()))}>
        {textsOf('analytics').downloadCsv}
      </Button>
    </div>
  )
}
