/** Downloads the data of a page as a CSV file, which the page makes itself. */
import { csvText } from '../../csv.ts'
import { download } from '../../download.ts'
import { Button } from '../../parts/action/button.tsx'
import { textsOf } from '../../texts/index.ts'

interface CsvButtonProps {
  /** Name of the file, without the extension. */
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
