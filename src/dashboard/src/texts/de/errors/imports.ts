import type { IMPORT_FAULTS } from '../../../../../rules/faults/imports.ts'
import type { TextsOf } from '../../error-texts.ts'

export const imports: TextsOf<typeof IMPORT_FAULTS> = {
  amount: 'Muss eine Zahl von 0 bis {max} mit höchstens 4 Dezimalstellen sein',
  item_for_each_row: 'Braucht einen Eintrag für jede Zeile',
  no_field: 'Das Feld „{name}“ gibt es nicht',
  same_spend: 'Hat Tag, Kanal, Quelle, Kampagne und Währung der Zeile spend.{row}',
  mapping: 'Es fehlt die Zuordnung von {fields}',
  rows_up_to: 'Hat mehr als {max} Zeilen',
  columns_up_to: 'Hat mehr als {max} Spalten',
  column_or_value: 'Eine Spalte oder ein Wert ist erforderlich',
}
